"""Configuration of OSMO's service that follows from a stack, as values of OSMO's chart `service` 1.3.1."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Sequence
from typing import Any

import yaml

from parts.in_cluster_data.facts import in_cluster
from physical_ai import safe_yaml
from physical_ai.catalog.osmo import CHART_VERSION, CREDENTIAL_SECRETS, IMAGES
from physical_ai.catalog.osmo_service import USER_ACTIONS
from physical_ai.planning import osmo_platforms
from physical_ai.planning.osmo_served import served_sections
from physical_ai.settings.facts.osmo_access import control_plane_url
from physical_ai.settings.models.tree import Settings

CHART_PLATFORM = "default"
"""Name of the platform that the chart's default values define in the pool `default`. Helm would keep this platform
beside the stack's platforms, without any validation.
"""
CHART_BACKEND = "default"

QUEUES = "physical-ai/queues"
"""Annotation of the control plane's Pods to which agents connect: a changed value restarts these Pods.

OSMO 6.3.1 updates KAI's queues when an agent connects, but not when its configuration changes (NVIDIA/OSMO#1155,
merged after that release).
"""

SECTIONS = {
    "service": "service",
    "workflow": "workflow",
    "podTemplates": "pod_templates",
    "resourceValidations": "resource_validations",
    "backends": "backends",
    "pools": "pools",
}
"""Name of each section of OSMO's configuration in the configuration file that the chart renders, by the section's name
in the chart's values.
"""


def configuration(settings: Settings, served: Sequence[Settings] = ()) -> dict[str, Any]:
    """Sections of the service's configuration that follow from the stack, by the names of the chart's values.

    `served` are the settings of stacks whose clusters are backends of the same control plane.
    """
    workflow: dict[str, Any] = {
        "max_num_tasks": settings.osmo.max_tasks,
        "max_retry_per_task": settings.osmo.retries,
        "default_exec_timeout": settings.osmo.timeouts.exec_default,
        "max_exec_timeout": settings.osmo.timeouts.exec_max,
        "default_queue_timeout": settings.osmo.timeouts.queue_default,
        "max_queue_timeout": settings.osmo.timeouts.queue_max,
        "backend_images": {
            "init": f"{IMAGES}/init-container:{settings.osmo.image_tag}",
            "client": f"{IMAGES}/client:{settings.osmo.image_tag}",
        },
        **_credentials(settings),
        **({"plugins_config": {"rsync": {"enabled": True}}} if settings.osmo.rsync else {}),
    }
    url = control_plane_url(settings)
    service = {"service_base_url": url} if url else {}
    sections: dict[str, Any] = {
        "service": service,
        "workflow": workflow,
        "podTemplates": osmo_platforms.pod_templates(settings),
        "resourceValidations": osmo_platforms.resource_validations(settings),
        "backends": osmo_platforms.backends(settings),
        "pools": osmo_platforms.pools(settings),
    }
    for other in served:
        for name, section in served_sections(other).items():
            sections[name] = {**sections[name], **section}
    return sections


def _credentials(settings: Settings) -> dict[str, Any]:
    """Credentials for the storage, as names of Secrets; empty for this stack's own control plane in Azure, which uses
    an identity.
    """
    if settings.osmo.installs_service and in_cluster(settings) is None:
        return {}
    return {key: {"credential": {"secretName": secret}} for key, secret in CREDENTIAL_SECRETS.items()}


def chart_values(settings: Settings, served: Sequence[Settings] = ()) -> dict[str, Any]:
    """Values for the chart `service`: the configuration, with null for the chart's default platform and default
    backend, which Helm would otherwise add.
    """
    config = configuration(settings, served)
    pools = copy.deepcopy(config["pools"])
    # Helm merges maps: the chart's own platform remains unless it is set to null.
    pools[osmo_platforms.DEFAULT_POOL]["platforms"].setdefault(CHART_PLATFORM, None)
    backends = dict(config["backends"])
    backends.setdefault(CHART_BACKEND, None)
    configs: dict[str, Any] = {"enabled": True, **config, "pools": pools, "backends": backends}
    configs["secretRefs"] = [each["credential"] for each in _credentials(settings).values()]
    if roles := _roles(settings, list(pools)):
        configs["roles"] = roles
    agent = {"extraPodAnnotations": {QUEUES: _queues(config)}}
    return {
        "global": {"osmoImageTag": settings.osmo.image_tag},
        "services": {"configs": configs, "agent": agent},
    }


def _queues(config: dict[str, Any]) -> str:
    """Digest of everything that KAI's queues depend on: names, quotas and topologies of pools, and the backends'
    schedulers.
    """
    pools = {
        name: {key: pool.get(key) for key in ("backend", "resources", "topology_keys")}
        for name, pool in config["pools"].items()
    }
    schedulers = {name: backend["scheduler_settings"] for name, backend in config["backends"].items()}
    return hashlib.sha256(json.dumps([pools, schedulers], sort_keys=True).encode()).hexdigest()[:16]


def _roles(settings: Settings, pools: list[str]) -> dict[str, Any]:
    """Differences from the chart's roles: the OSMO role of each Entra group, and the pools to which users may
    submit.
    """
    roles: dict[str, Any] = {}
    if settings.osmo.installs_service:
        for role, groups in settings.osmo.access.roles.items():
            # The first name is the chart's own name of the role, which OSMO's own tokens contain.
            roles[role] = {"external_roles": [role, *groups]}
    if len(pools) > 1:
        roles.setdefault("osmo-user", {})["policies"] = _user_policies(pools)
    return roles


def _user_policies(pools: list[str]) -> list[dict[str, Any]]:
    submit = {"effect": "Allow", "actions": ["workflow:*"], "resources": [f"pool/{name}" for name in pools]}
    return [{"effect": "Allow", "actions": list(USER_ACTIONS), "resources": ["*"]}, submit]


def as_yaml(settings: Settings, served: Sequence[Settings] = ()) -> str:
    """Values for the chart `service` as the text of one YAML file."""
    head = (
        f"# Values for OSMO's chart service {CHART_VERSION} (images {settings.osmo.image_tag}), from the settings of"
        " the stack\n"
        f"# {settings.stack} by `physai osmo values {settings.stack}`. Edit the settings, not this file. Lists and\n"
        "# texts replace the chart's own, maps are merged with them, null removes a key of the chart.\n"
    )
    return head + yaml.dump(
        chart_values(settings, served), Dumper=Plain, sort_keys=False, width=120, allow_unicode=True
    )


def values_files(settings: Settings, served: Sequence[Settings] = ()) -> dict[str, str]:
    """Values for the chart `service` in several files, all of which are given to Helm.

    Each section has its own file, so that a diff shows which section changes.
    """
    values = chart_values(settings, served)
    configs: dict[str, Any] = values["services"].pop("configs")
    services = {**values.pop("services"), "configs": {"enabled": configs.pop("enabled")}}
    sections = {name: {"services": {"configs": {name: section}}} for name, section in configs.items()}
    files = {"release": {**values, "services": services}, **sections}
    return {
        f"{name}.yaml": yaml.dump(document, Dumper=Plain, sort_keys=False, width=120, allow_unicode=True)
        for name, document in files.items()
    }


class Plain(safe_yaml.DUMPER):
    """YAML dumper that writes repeated values in full, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
