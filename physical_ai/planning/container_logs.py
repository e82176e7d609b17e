"""ConfigMap of Azure's log agent that selects the namespaces whose container output the agent collects.

The namespace filter of a data collection rule applies only to the inventory, so this ConfigMap filters the output. It
can exclude namespaces, but has no list of namespaces to include (learn.microsoft.com, Configure data collection in
Container insights using ConfigMap). A cluster has one such ConfigMap, whose name is fixed; a change restarts the
agents.
"""

from __future__ import annotations

import json
from typing import Any

from physical_ai.catalog.system_namespaces import KUBERNETES_NAMESPACES
from physical_ai.planning import manifests
from physical_ai.settings.models.container_logs import ContainerLogs

NAME, NAMESPACE = "container-azm-ms-agentconfig", "kube-system"
OTHERS = (*KUBERNETES_NAMESPACES, "gatekeeper-system", "calico-system")
"""Namespaces of Kubernetes and AKS whose container output is not collected."""


def agent_config(logs: ContainerLogs) -> dict[str, Any]:
    """ConfigMap of the agent. The agent then collects the output of namespaces that neither the platform nor AKS has
    created, and of namespaces that the settings name.
    """
    own = [str(each["metadata"]["name"]) for each in manifests.namespaces()]
    left_out = sorted({*OTHERS, *own} - set(logs.namespaces))
    return {
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "data": {
            "schema-version": "v1",
            "config-version": "ver1",
            "log-data-collection-settings": _settings(left_out),
        },
    }


def _settings(left_out: list[str]) -> str:
    """Settings of Azure's log agent as TOML. The excluded namespaces are written as JSON, because a list of texts has
    the same syntax in JSON and TOML.
    """
    names = json.dumps(left_out)
    streams = "".join(
        f"[log_collection_settings.{stream}]\nenabled = true\nexclude_namespaces = {names}\n"
        for stream in ("stdout", "stderr")
    )
    return f"[log_collection_settings]\n{streams}[log_collection_settings.env_var]\nenabled = false\n"
