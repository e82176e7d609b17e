"""Pools and platforms of OSMO's configuration, computed as OSMO computes them from its configuration."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from pydantic import BaseModel, ValidationError

from physical_ai.catalog.osmo import CONTROL_CONTAINER
from workbench.osmo.choices import BackendSchedulerType, DownloadType, PoolStatus
from workbench.osmo.merge import merge_into
from workbench.osmo.refusal import as_refusal, crash
from workbench.osmo.service.assertions import ResourceAssertion
from workbench.osmo.shapes import a_map

_POOL_LISTS = ("common_pod_template", "common_resource_validations", "common_group_templates")
_PLATFORM_LISTS = ("override_pod_template", "resource_validations")

Reference = Literal["pod_templates", "resource_validations", "group_templates"]


@dataclass(frozen=True)
class Missing:
    """An undefined name that a pool or platform refers to. OSMO ignores such a name; if the name stands for a
    safeguard, the pool lacks the safeguard.
    """

    path: str
    """Path at which the name is used, such as `pools.default.platforms.h100.resource_validations`."""
    section: Reference
    name: str


class Toleration(BaseModel):
    """A toleration in OSMO's configuration. A toleration without a key makes the entire pool unreadable."""

    key: str
    operator: str = "Equal"
    value: str | None = None
    effect: str | None = None


class PoolResourceCountable(BaseModel):
    """Limits on the number of a pool's GPUs; -1 means no limit."""

    guarantee: int = -1
    maximum: int = -1
    weight: int = 1


class PoolResources(BaseModel):
    gpu: PoolResourceCountable | None = None


class TopologyKey(BaseModel):
    """Topology key of a pool: the name `key` under which workflows refer to the node label `label`. A pool lists its
    topology keys from the widest domain to the narrowest.
    """

    key: str
    label: str


class Platform(BaseModel):
    """A platform in OSMO's configuration. Unknown keys are ignored without a warning."""

    description: str = ""
    host_network_allowed: bool = False
    privileged_allowed: bool = False
    allowed_mounts: list[str] = []
    default_mounts: list[str] = []
    tolerations: list[Toleration] = []
    labels: dict[str, str] = {}
    default_variables: dict[Any, Any] = {}
    resource_validations: list[str] = []
    parsed_resource_validations: list[ResourceAssertion] = []
    override_pod_template: list[str] = []
    parsed_pod_template: dict[Any, Any] = {}


class Pool(BaseModel):
    """A pool in OSMO's configuration. Unknown keys are ignored without a warning."""

    name: str = ""
    description: str = ""
    status: PoolStatus | None = None
    download_type: DownloadType | None = None
    enable_maintenance: bool = False
    backend: str
    default_platform: str | None = None
    default_exec_timeout: str = ""
    default_queue_timeout: str = ""
    max_exec_timeout: str = ""
    max_queue_timeout: str = ""
    default_exit_actions: dict[str, str] = {}
    resources: PoolResources = PoolResources()
    topology_keys: list[TopologyKey] = []
    common_default_variables: dict[Any, Any] = {}
    common_resource_validations: list[str] = []
    parsed_resource_validations: list[ResourceAssertion] = []
    common_pod_template: list[str] = []
    parsed_pod_template: dict[Any, Any] = {}
    common_group_templates: list[str] = []
    parsed_group_templates: list[dict[Any, Any]] = []
    platforms: dict[str, Platform] = {}


class BackendSchedulerSettings(BaseModel):
    scheduler_type: BackendSchedulerType = BackendSchedulerType.KAI
    scheduler_name: str = "kai-scheduler"
    scheduler_timeout: int = 30


class BackendNodeConditions(BaseModel):
    rules: dict[str, str] | None = None
    prefix: str = "osmo.nvidia.com/"


def resolve_pool(name: str, pool: Mapping[str, Any], config: Mapping[str, Any]) -> tuple[dict[str, Any], list[Missing]]:
    """The pool `name` after OSMO has merged its templates and collected its validations, and the undefined names that
    the pool refers to.

    A value that is not a list, but should be one, counts as an empty list. Raises Refusal if a template cannot be
    merged, because OSMO then does not start.
    """
    missing: list[Missing] = []
    resolved = _with_lists(copy.deepcopy(dict(pool)), _POOL_LISTS)
    if not isinstance(resolved.get("platforms"), dict):
        resolved["platforms"] = {}
    here = f"pools.{name}"

    def named(names: Sequence[Any], section: Reference, place: str) -> list[Any]:
        """Copies of the items in `section` that `names` lists. Adds each undefined name to `missing`."""
        known = config.get(section, {})
        if known is None and names:
            raise crash(f"{section} is null, but '{names[0]}' is looked up in it")
        known = a_map(known)
        missing.extend(Missing(f"{here}{place}", section, str(item)) for item in names if item not in known)
        return [copy.deepcopy(known[item]) for item in names if item in known]

    base: dict[str, Any] = {}
    for template in named(resolved["common_pod_template"], "pod_templates", ".common_pod_template"):
        base = _laid(base, template)
    validations = _joined(
        named(resolved["common_resource_validations"], "resource_validations", ".common_resource_validations")
    )
    groups = named(resolved["common_group_templates"], "group_templates", ".common_group_templates")
    resolved |= {
        "parsed_pod_template": base,
        "parsed_resource_validations": validations,
        "parsed_group_templates": merged_groups(groups),
    }
    for key, platform in cast("dict[str, Any]", resolved["platforms"]).items():
        if not isinstance(platform, dict):
            continue
        place = f".platforms.{key}"
        item = _with_lists(cast("dict[str, Any]", platform), _PLATFORM_LISTS)
        merged = copy.deepcopy(base)
        for template in named(item["override_pod_template"], "pod_templates", f"{place}.override_pod_template"):
            merged = _laid(merged, template)
        own = named(item["resource_validations"], "resource_validations", f"{place}.resource_validations")
        item |= derived(merged)
        item["parsed_resource_validations"] = [*copy.deepcopy(validations), *_joined(own)]
    return resolved, missing


def derived(template: Mapping[str, Any]) -> dict[str, Any]:
    """Values that follow from a platform's merged template: tolerations, labels (its nodeSelector), and mounts of
    tasks.
    """
    spec = template.get("spec", {})
    mounts = [
        path
        for container in spec.get("containers", [])
        if container.get("name", "") != CONTROL_CONTAINER
        for mount in container.get("volumeMounts", [])
        if (path := mount.get("mountPath"))
    ]
    return {
        "parsed_pod_template": template,
        "tolerations": spec.get("tolerations", []),
        "labels": spec.get("nodeSelector", {}),
        "default_mounts": mounts,
    }


def merged_groups(templates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Group templates, in which templates of the same object (apiVersion, kind and name) are merged into one."""
    merged: dict[tuple[Any, Any, Any], dict[str, Any]] = {}
    for template in templates:
        key = (template.get("apiVersion", ""), template.get("kind", ""), template.get("metadata", {}).get("name", ""))
        if key in merged:
            merge_into(merged[key], copy.deepcopy(template))
        else:
            merged[key] = copy.deepcopy(dict(template))
    return list(merged.values())


def _laid(base: dict[str, Any], template: Any) -> dict[str, Any]:
    if not isinstance(template, Mapping):
        raise crash("a pod template is null or not a map")
    return merge_into(base, cast("Mapping[str, Any]", template))


def _with_lists(holder: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    for key in keys:
        if not isinstance(holder.get(key), list):
            holder[key] = []
    return holder


def _joined(validations: Sequence[Any]) -> list[Any]:
    """Items of all validations in one list. A validation should be a list; one that is a map contributes its keys, as
    in OSMO.
    """
    return [item for validation in validations for item in validation]


def read_pool(name: str, resolved: Mapping[str, Any]) -> Pool:
    """The pool `name`, read from `resolved`, its data after merging.

    Raises Refusal for a wrong value. A single wrong value makes the whole pool unreadable.
    """
    try:
        pool = Pool.model_validate({**resolved, "name": name})
    except ValidationError as error:
        raise as_refusal(error) from None
    status = PoolStatus.MAINTENANCE if pool.enable_maintenance else pool.status
    return pool.model_copy(update={"status": status})


def read_scheduler(backend: Mapping[str, Any]) -> BackendSchedulerSettings:
    """The scheduler settings of a backend in OSMO's configuration. Raises Refusal if the backend is not readable."""
    try:
        BackendNodeConditions.model_validate(backend.get("node_conditions") or {})
        return BackendSchedulerSettings.model_validate(backend.get("scheduler_settings") or {})
    except ValidationError as error:
        raise as_refusal(error) from None
