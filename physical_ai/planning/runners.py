"""GitHub's Actions Runner Controller: values of its two charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from physical_ai.catalog import runners as names
from physical_ai.catalog.aks import POOL_LABEL
from physical_ai.catalog.azure_identity import IDENTITY_USE_LABEL
from physical_ai.catalog.charts import Chart, chart
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.settings.facts.pools import CPU_POOL
from physical_ai.settings.facts.runners import runner_image, runner_label
from physical_ai.settings.faults import Fault
from physical_ai.settings.models.runners import Runners
from physical_ai.settings.models.tree import Settings

_NAMES = "the names in physical_ai/catalog/runners.py"
_RESTRICTED = "nothing: its namespace has the Pod Security level restricted"
CONTROLLER_OWNED = {
    "flags.watchSingleNamespace": "nothing: with another one the controller would have rights in the whole cluster",
    "nodeSelector": "cpuPool",
    "podSecurityContext": _RESTRICTED,
    "securityContext": _RESTRICTED,
    "serviceAccount": _NAMES,
}
SCALE_SET_OWNED = {
    "controllerServiceAccount": _NAMES,
    "githubConfigSecret": "runners.app and the stack's secret githubAppPrivateKey",
    "githubConfigUrl": "runners.configUrl",
    "listenerTemplate": "nothing: listeners meet the Pod Security level restricted",
    "maxRunners": "runners.max",
    "minRunners": "runners.min",
    "runnerGroup": "runners.group",
    "runnerScaleSetName": "runners.label",
    "template": "runners.image and runners.pool",
}
"""Keys that the files may not set, with what to change instead."""
CONTAINER_SECURITY: dict[str, Any] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
POD_SECURITY: dict[str, Any] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
REQUESTS = {"cpu": "1500m", "memory": "5Gi"}
"""Of one job: two processes of Pulumi with their providers, and Python's."""


@dataclass(frozen=True)
class RunnersPlan:
    """What is installed with `runners`."""

    controller: Chart
    controller_values: Mapping[str, Any]
    scale_set: Chart
    scale_set_values: Mapping[str, Any]


def runners_plan(settings: Settings, root: FilePath) -> tuple[RunnersPlan | None, list[Fault]]:
    """The plan of a stack, and what is wrong with the files of values; None without `runners`."""
    given = settings.runners
    if given is None:
        return None, []
    ours = (
        (names.CONTROLLER_CHART, CONTROLLER_OWNED, _controller()),
        (names.SCALE_SET_CHART, SCALE_SET_OWNED, _scale_set(settings, given)),
    )
    charts: list[tuple[Chart, dict[str, Any]]] = []
    faults: list[Fault] = []
    for name, owners, own in ours:
        pinned = chart(name, names.CHART_VERSION)
        values, found = values_of_chart(root, f"{name}/values.yaml", pinned, owners, own)
        faults += found
        charts.append((pinned, values))
    (controller, controller_values), (scale_set, scale_set_values) = charts
    return RunnersPlan(controller, controller_values, scale_set, scale_set_values), faults


def _controller() -> dict[str, Any]:
    return {
        "serviceAccount": {"create": True, "name": names.CONTROLLER_ACCOUNT},
        # Roles in this namespace, instead of a ClusterRole.
        "flags": {"watchSingleNamespace": names.NAMESPACE},
        "nodeSelector": {POOL_LABEL: CPU_POOL},
        "podSecurityContext": POD_SECURITY,
        "securityContext": CONTAINER_SECURITY,
    }


def _scale_set(settings: Settings, given: Runners) -> dict[str, Any]:
    values: dict[str, Any] = {
        "githubConfigUrl": given.config_url,
        "githubConfigSecret": names.APP_SECRET,
        "runnerScaleSetName": runner_label(settings),
        "minRunners": given.min,
        "maxRunners": given.max,
        # The chart finds it automatically only if the controller watches all namespaces.
        "controllerServiceAccount": {"namespace": names.CONTROLLER_NAMESPACE, "name": names.CONTROLLER_ACCOUNT},
        "listenerTemplate": _listener(),
        "template": _runner(given),
    }
    return values if given.group is None else {**values, "runnerGroup": given.group}


def _listener() -> dict[str, Any]:
    """Only a container with this name is the listener's own; any other would be put beside it."""
    container = {"name": "listener", "securityContext": CONTAINER_SECURITY}
    selector = {POOL_LABEL: CPU_POOL}
    return {"spec": {"nodeSelector": selector, "securityContext": POD_SECURITY, "containers": [container]}}


def _runner(given: Runners) -> dict[str, Any]:
    identity = {"labels": {IDENTITY_USE_LABEL: "true"}} if given.cluster_role != "none" else {}
    user = names.RUNNER_USER
    return {
        "metadata": {
            # The autoscaler takes no node from under a job.
            "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
            **identity,
        },
        "spec": {
            "serviceAccountName": names.RUNNER_ACCOUNT,
            "automountServiceAccountToken": False,
            "securityContext": {**POD_SECURITY, "runAsUser": user, "runAsGroup": user, "fsGroup": user},
            "nodeSelector": {POOL_LABEL: names.POOL},
            "tolerations": [{"key": names.TAINT_KEY, "operator": "Exists", "effect": "NoSchedule"}],
            "containers": [
                {
                    "name": "runner",
                    "image": runner_image(given),
                    "command": ["/home/runner/run.sh"],
                    "resources": {"requests": REQUESTS},
                    "securityContext": CONTAINER_SECURITY,
                }
            ],
        },
    }
