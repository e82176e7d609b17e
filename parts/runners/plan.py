"""GitHub's Actions Runner Controller: values of its two charts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from parts.part import PartPlan, Planned, ReleasePlan
from parts.runners import names
from parts.runners.facts import runner_image, runner_label
from parts.runners.model import Runners
from physical_ai.catalog.aks import POOL_LABEL
from physical_ai.catalog.azure_identity import IDENTITY_USE_LABEL
from physical_ai.catalog.charts import Chart, newest_chart
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.settings.facts.pools import CPU_POOL
from physical_ai.settings.faults import Fault
from physical_ai.settings.models.tree import Settings

_NAMES = "the names in parts/runners/names.py"
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
"""Chart keys that the user's values files may not set. Each value names the setting to change instead, or says
why there is none.
"""
CONTAINER_SECURITY: dict[str, Any] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
POD_SECURITY: dict[str, Any] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
SCALE_SET = "scale-set"
"""Key of the release of the runners."""
REQUESTS = {"cpu": "1500m", "memory": "5Gi"}
"""Resource requests of one job: enough for two Pulumi processes with their providers and Python programs."""


def runners_plan(settings: Settings, root: FilePath) -> Planned:
    """Plan of the part for a stack, and the faults of the user's values files; the plan is None without `runners`."""
    given = settings.runners
    if given is None:
        return None, []
    # Both charts have one version: the controller ignores scale sets of another minor version
    # (actions/actions-runner-controller, build.IsVersionAllowed).
    pins = [newest_chart(name) for name in (names.CONTROLLER_CHART, names.SCALE_SET_CHART)]
    controller, refused = _values(root, pins[0], CONTROLLER_OWNED, _controller())
    scale_set, others = _values(root, pins[1], SCALE_SET_OWNED, _scale_set(settings, given))
    releases = (
        ReleasePlan(
            key="controller",
            name=names.CONTROLLER_RELEASE,
            namespaces=(names.CONTROLLER_NAMESPACE, names.NAMESPACE),
            chart=pins[0],
            values=controller,
        ),
        ReleasePlan(
            key=SCALE_SET,
            name=names.SCALE_SET_RELEASE,
            namespaces=(names.NAMESPACE, names.CONTROLLER_NAMESPACE),
            chart=pins[1],
            values=scale_set,
            # The scale set is deleted before the controller, because the controller removes it from GitHub.
            needs=("controller",),
        ),
    )
    return PartPlan(releases), [*refused, *others]


def _values(
    root: FilePath, pinned: Chart, owners: Mapping[str, str], ours: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Fault]]:
    return values_of_chart(root, f"runners/{pinned.name}-values.yaml", pinned, owners, ours)


def _controller() -> dict[str, Any]:
    return {
        "serviceAccount": {"create": True, "name": names.CONTROLLER_ACCOUNT},
        # With this flag, the controller needs Roles in this namespace instead of a ClusterRole.
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
        # The chart finds the controller's account automatically only if the controller watches all namespaces.
        "controllerServiceAccount": {"namespace": names.CONTROLLER_NAMESPACE, "name": names.CONTROLLER_ACCOUNT},
        "listenerTemplate": _listener(),
        "template": _runner(given),
    }
    return values if given.group is None else {**values, "runnerGroup": given.group}


def _listener() -> dict[str, Any]:
    """Pod template of listeners.

    The template's container has to be named `listener`: the chart merges a container of this name with its own
    container, and adds a container of any other name to it.
    """
    container = {"name": "listener", "securityContext": CONTAINER_SECURITY}
    selector = {POOL_LABEL: CPU_POOL}
    return {"spec": {"nodeSelector": selector, "securityContext": POD_SECURITY, "containers": [container]}}


def _runner(given: Runners) -> dict[str, Any]:
    identity = {"labels": {IDENTITY_USE_LABEL: "true"}} if given.cluster_role != "none" else {}
    user = names.RUNNER_USER
    return {
        "metadata": {
            # Keeps the autoscaler from removing a node on which a job runs.
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
