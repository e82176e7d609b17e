"""Releases of OSMO in a stack with `osmo.mode: backend`, from files and settings: the KAI scheduler and the agents.

>>> from physical_ai.settings import load
>>> load("dev-westus2").plan.osmo[0].values["admission"]["gpuFractionRuntimeClassName"]
''
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from physical_ai.catalog import osmo
from physical_ai.catalog.charts import Chart, chart
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.settings.facts.osmo_access import control_plane_url
from physical_ai.settings.facts.osmo_token import ROTATION_ANNOTATION, token_epoch
from physical_ai.settings.facts.pools import services_placement
from physical_ai.settings.faults import Fault
from physical_ai.settings.models.tree import Settings

KAI_CHART, BACKEND_CHART = osmo.KAI_CHART, osmo.BACKEND_CHART
KAI_FILE, BACKEND_FILE = "kai-scheduler/values.yaml", "osmo/backend-operator.yaml"
"""Paths of the values files below `values/`."""

AGENT_FILES = "osmo-agent-kubeconfig"
"""Name of the ConfigMap with a kubeconfig in the agents' namespace, which the development login needs: see
`agent_kubeconfig`.
"""
AGENT_FOLDER = "/etc/osmo-agent"
KUBECONFIG, CREDENTIAL = "config", "credential.py"
"""Keys of the ConfigMap AGENT_FILES: the kubeconfig, and the program `agents/osmo_login/credential.py`."""
DEV_USER = "admin"
"""User name with which the agents log in to the control plane in development; a user of this name exists by default."""

KAI_OWNED = {"global.nodeSelector": "cpuPool", "global.tolerations": "cpuPool"}
BACKEND_OWNED = {
    "global.osmoImageLocation": "the registry in physical_ai/catalog/osmo.py",
    "global.osmoImageTag": "the version in physical_ai/catalog/osmo.py",
    "global.serviceUrl": "osmo.serviceUrl",
    "global.loginMethod": "osmo.login",
    "global.accountTokenSecret": "the name in physical_ai/catalog/osmo.py",
    "global.accountTokenSecretKey": "the name in physical_ai/catalog/osmo.py",
    "global.backendName": "osmo.backendName",
    "global.agentNamespace": "the name in physical_ai/catalog/osmo.py",
    "global.backendNamespace": "the name in physical_ai/catalog/osmo.py",
    "global.includeNamespaceUsage": "the name in physical_ai/catalog/osmo.py",
    "global.nodeSelector": "cpuPool",
    "global.tolerations": "cpuPool",
    "services.*.extraEnvs.KUBECONFIG": "osmo.login",
    f"services.*.volumes.{AGENT_FILES}": "osmo.login",
    f"services.*.volumeMounts.{AGENT_FOLDER}": "osmo.login",
    f"services.*.extraPodAnnotations.{ROTATION_ANNOTATION}": "osmo.tokenRotation",
    **{f"services.*.extraEnvs.{name}": "monitoring.metrics" for name in osmo.METRICS_ENVIRONMENT},
}
"""Chart keys that the user's values files may not set. Each value names the setting to change instead, or says
why there is none.
"""

_PROGRESS = ("progress-files", "/var/run/osmo")
"""Name and mount path of the volume for the probes of OSMO's agents.

The chart's default lists of volumes and mounts contain it, but lists in values replace these defaults, so the values
have to repeat it.
"""


@dataclass(frozen=True)
class OsmoRelease:
    """A Helm release of OSMO or its scheduler."""

    name: str
    namespace: str
    chart: Chart
    values: Mapping[str, Any]


def osmo_releases(settings: Settings, root: FilePath) -> tuple[tuple[OsmoRelease, ...], list[Fault]]:
    """The releases in the order in which they are installed, and the faults of their values files.

    The tuple of releases is empty with `osmo.mode: namespaces`.
    """
    if not settings.osmo.installs_backend:
        return (), []
    kai, faults = values_of_chart(
        root, KAI_FILE, kai_chart(), KAI_OWNED, {"global": _on_cpu_pool(settings)}, module=__name__
    )
    backend, found = values_of_chart(
        root, BACKEND_FILE, backend_chart(), BACKEND_OWNED, _backend(settings), module=__name__
    )
    releases = (
        OsmoRelease(osmo.KAI_RELEASE, osmo.KAI_NAMESPACE, kai_chart(), kai),
        OsmoRelease(osmo.BACKEND_RELEASE, osmo.OPERATOR_NAMESPACE, backend_chart(), backend),
    )
    return releases, [*faults, *found]


def kai_chart() -> Chart:
    return chart(osmo.KAI_CHART, osmo.KAI_VERSION)


def backend_chart() -> Chart:
    return chart(osmo.BACKEND_CHART, osmo.CHART_VERSION)


def _backend(settings: Settings) -> dict[str, Any]:
    """Values of the agents' chart that follow from settings."""
    ours: dict[str, Any] = {
        "global": {
            "osmoImageLocation": osmo.IMAGES,
            "osmoImageTag": settings.osmo.image_tag,
            "serviceUrl": control_plane_url(settings) or "",
            # The agents support the methods token and password only; a development login is a separate argument.
            "loginMethod": "token",
            "accountTokenSecret": osmo.TOKEN_SECRET,
            "accountTokenSecretKey": osmo.TOKEN_KEY,
            "agentNamespace": osmo.OPERATOR_NAMESPACE,
            "backendNamespace": osmo.WORKFLOWS_NAMESPACE,
            "backendName": settings.osmo.backend_name,
            # Lists the namespaces whose Pods count as usage; the chart's default is two of NVIDIA's namespaces.
            "includeNamespaceUsage": osmo.WORKFLOWS_NAMESPACE,
            **_on_cpu_pool(settings),
        },
    }
    if agent := _agent(settings):
        ours["services"] = {"backendListener": agent, "backendWorker": agent}
    return ours


def agent_kubeconfig() -> str:
    """Kubeconfig for the agents' own cluster, for the development login: with this login, nothing else tells the agents
    which API server to use.

    The kubeconfig gets the token from a program that reads the Pod's token file at every login. The kubelet renews this
    file, but the agents' client would read the file only once, and the API server would refuse the expired token
    (microsoft/physical-ai-toolchain#938).
    """
    cluster = {
        "server": "https://kubernetes.default.svc",
        "certificate-authority": "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
    }
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "python3",
        "args": [f"{AGENT_FOLDER}/{CREDENTIAL}"],
        "interactiveMode": "Never",
    }
    name = "cluster"
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": name, "user": {"exec": plugin}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        },
        indent=1,
    )


def _on_cpu_pool(settings: Settings) -> dict[str, Any]:
    """Placement of OSMO's Pods on the cpu pool. All other pools have taints that repel the Pods anyway; the node
    selector makes the placement explicit.

    The empty tolerations replace the toleration of an NVIDIA taint in the agents' chart.
    """
    return {"tolerations": [], **services_placement(settings)}


def _agent(settings: Settings) -> dict[str, Any]:
    """Values that the program sets for each of OSMO's two agents, in addition to the values file."""
    environment = dict(osmo.METRICS_ENVIRONMENT) if settings.monitoring.is_measured else {}
    agent: dict[str, Any] = {}
    if settings.osmo.login == "dev":
        agent, environment = _dev_agent(), {"KUBECONFIG": f"{AGENT_FOLDER}/{KUBECONFIG}", **environment}
    if environment:
        agent["extraEnvs"] = [{"name": name, "value": value} for name, value in environment.items()]
    if settings.osmo.creates_token or settings.osmo.fetches_token:
        agent["extraPodAnnotations"] = {ROTATION_ANNOTATION: token_epoch(settings)}
    return agent


def _dev_agent() -> dict[str, Any]:
    """Values of the agents' chart for one agent with the development login."""
    progress, folder = _PROGRESS
    return {
        "extraArgs": ["--method", "dev", "--username", DEV_USER],
        "volumes": [
            {"name": progress, "emptyDir": {}},
            {"name": AGENT_FILES, "configMap": {"name": AGENT_FILES}},
        ],
        "volumeMounts": [
            {"name": progress, "mountPath": folder},
            {"name": AGENT_FILES, "mountPath": AGENT_FOLDER, "readOnly": True},
        ],
    }
