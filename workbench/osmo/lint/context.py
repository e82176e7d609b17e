"""Context of a check of workflow files: the OSMO configuration, from a stack or chart values, and facts about nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from physical_ai.catalog.nccl import pool_kind
from physical_ai.planning.osmo_platforms import DEFAULT_POOL
from physical_ai.planning.osmo_service import SECTIONS
from physical_ai.settings import Settings
from physical_ai.settings.facts.gpu import has_host_mig, is_vgpu, knows_gpu
from physical_ai.settings.facts.osmo import OsmoPlatformFacts, platforms
from workbench.osmo.service.configuration import Configuration, load
from workbench.osmo.service.stack_config import loaded_config
from workbench.osmo.shapes import a_map
from workbench.osmo.workflow.rendering import Variables

CURRENT, NEXT = "6.3", "6.4"


@dataclass(frozen=True)
class Context:
    """Everything besides the file that a check depends on: a configuration, the workflow's pool, and facts about
    nodes.
    """

    name: str
    """Name of the stack, or of the file with the configuration."""
    config: Configuration
    pool: str = DEFAULT_POOL
    facts: Mapping[str, OsmoPlatformFacts] = field(default_factory=dict[str, OsmoPlatformFacts])
    """Facts about the nodes of each platform; empty for a configuration from chart values."""
    cut_vgpu: frozenset[str] = frozenset()
    """Platforms whose GPUs are vGPUs that Azure's host has partitioned by MIG."""
    nccl: Mapping[str, str] = field(default_factory=dict[str, str])
    """Kind of network that NCCL uses between nodes (`infiniband`, …), by the name of the OSMO platform; only for
    platforms with GPUs.
    """
    variables: Variables = field(default_factory=Variables)
    osmo_version: str = CURRENT
    """OSMO release for which the file is checked."""
    root: Path | None = None
    """Folder that must contain the files that a workflow names; None for the Git repository of the workflow."""


def of_stack(
    settings: Settings,
    pool: str | None = None,
    variables: Variables | None = None,
    served: Sequence[Settings] = (),
) -> Context:
    """The context of a check against a stack's settings.

    Args:
        pool: Name of the OSMO pool; None for the default pool.
        variables: Variables that the workflow is rendered with.
        served: Other stacks that use this stack's OSMO service. Their pools have nodes of their own clusters.
    """
    config = loaded_config(settings, served)
    backend = a_map(a_map(config["pools"]).get(pool or DEFAULT_POOL)).get("backend")
    name = settings.stack
    settings = next((each for each in served if each.osmo.backend_name == backend), settings)
    facts = {item.name: item for item in platforms(settings)}
    cut = {item.name for item in facts.values() if _is_cut(settings, item)}
    return Context(
        name,
        load(config),
        pool or DEFAULT_POOL,
        facts,
        frozenset(cut),
        {
            name: pool_kind(settings.pools[item.pool].sku).kind
            for name, item in facts.items()
            if item.pool in settings.pools
        },
        variables or Variables(),
    )


def _is_cut(settings: Settings, facts: OsmoPlatformFacts) -> bool:
    pool = settings.pools.get(facts.pool)
    return pool is not None and knows_gpu(pool) and is_vgpu(pool) and has_host_mig(pool)


def config_of_values(document: Mapping[str, Any]) -> dict[str, Any]:
    """OSMO's configuration without secrets, from the chart values `document`. Its keys are named as in OSMO's
    configuration file.
    """
    configs = a_map(a_map(document.get("services")).get("configs"))
    names = {
        **SECTIONS,
        "dataset": "dataset",
        "groupTemplates": "group_templates",
        "backendTests": "backend_tests",
        "roles": "roles",
    }
    found = {names[key]: _without_secrets(_with_keys(section)) for key, section in configs.items() if key in names}
    return {key: section for key, section in found.items() if section is not None}


def of_chart_values(
    document: Mapping[str, Any], name: str, pool: str | None = None, variables: Variables | None = None
) -> Context:
    """The context of a check against values of the chart `service`. Raises Refusal if OSMO would not load them."""
    config = with_storage(config_of_values(document))
    return Context(name, load(config), pool or DEFAULT_POOL, variables=variables or Variables())


def with_storage(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration with a placeholder for the storage address of workflow data if it has no such address. Chart
    values leave the address to a Secret.
    """
    workflow = config.setdefault("workflow", {})
    data = a_map(workflow).setdefault("workflow_data", {})
    a_map(data).setdefault("credential", {"endpoint": "azure://osmo/workflow-data"})
    return config


def _with_keys(section: Any) -> Any:
    """The `dataset` section with the placeholder `…` for each bucket key that is kept in a Secret. A placeholder is
    needed because OSMO writes the keys of all buckets into every Pod.
    """
    buckets: Any = a_map(section).get("buckets") if isinstance(section, dict) else None
    if not isinstance(buckets, dict):
        return cast("Any", section)
    named: dict[str, Any] = {name: _with_key(bucket) for name, bucket in a_map(buckets).items()}
    return {**a_map(section), "buckets": named}


def _with_key(bucket: Any) -> Any:
    if not isinstance(bucket, dict) or not _is_reference(a_map(bucket).get("default_credential")):
        return cast("Any", bucket)
    return {**a_map(bucket), "default_credential": {"access_key_id": "…", "access_key": "…"}}


def _without_secrets(value: Any) -> Any:
    """The value without references to Secrets, and without keys that are null. OSMO resolves the references when it
    loads the values.
    """
    if not isinstance(value, dict):
        return value
    kept = {key: _without_secrets(item) for key, item in a_map(value).items() if not _is_reference(item)}
    return {key: item for key, item in kept.items() if item is not None}


def _is_reference(value: Any) -> bool:
    return isinstance(value, dict) and ("secretName" in value or "secret_file" in value)
