"""NVSentinel: values of its chart for a health mode, and the rules that say which nodes leave service."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from typing import Any

from parts.kube_prometheus.names import NAMESPACE as METRICS_NAMESPACE
from parts.nvsentinel.limits import health_limits
from parts.nvsentinel.names import (
    CHART,
    DATASTORE_KEY,
    DATASTORE_SECRET,
    GPU_MONITOR,
    GPU_NODE_LABEL,
    NAMESPACE,
    RELEASE,
    SYSLOG_MONITOR,
)
from parts.part import PartPlan, Planned, ReleasePlan, SecretPlan
from parts.slurm import names as slurm
from physical_ai.catalog import osmo
from physical_ai.catalog.charts import newest_chart
from physical_ai.catalog.health_events import dcgm_errors
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.catalog.telemetry_rows import xids_of
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.planning.values_files import merge_values
from physical_ai.settings.facts import gpu, health
from physical_ai.settings.facts.pools import HOST_ROOT, driver_facts, services_placement
from physical_ai.settings.models.node_pools import DriverSource
from physical_ai.settings.models.tree import Settings

FILE = f"nvsentinel/{CHART}-values.yaml"
TIMEOUT_SECONDS = 900
RUNTIME_CLASS = "nvidia"
"""Name that the GPU Operator gives its runtime class (`operator.runtimeClass`)."""
BREAKER_PERCENT = 25
BREAKER_WINDOW = "1h"
"""Time window of fault-quarantine's circuit breaker.

The breaker keeps one counter per second of the window. An event shifts all counters once for each second since the
previous event. With a window of days, the first event after a quiet day would take minutes. Limits for longer periods
are in parts/nvsentinel/limits.yaml.
"""
PLATFORM_NAMESPACES = (
    NAMESPACE,
    "kube-system",
    gpu.OPERATOR_NAMESPACE,
    osmo.KAI_NAMESPACE,
    osmo.KAI_RESERVATION_NAMESPACE,
    osmo.CONTROL_NAMESPACE,
    osmo.OPERATOR_NAMESPACE,
    METRICS_NAMESPACE,
)
"""Namespaces whose Pods NVSentinel does not evict when it drains a node. In a stack with `slurm`, slurmd's namespace is
added: Slurm drains the node itself, so that running jobs can end.
"""
_BY_HAND = "nothing: nodes are repaired with `physai node replace`"
OWNED = {
    "global.dryRun": "health.mode: detect",
    "global.dcgm": "nothing: the GPU Operator runs DCGM",
    "global.datastore": "health.datastoreSecret",
    "global.tolerations": "nothing: the monitors run on every GPU node",
    "global.systemNodeSelector": "nothing: the modules run on the cpu pool",
    "global.gpuHealthMonitor": "health.mode",
    "global.syslogHealthMonitor": "health.mode",
    "global.labeler": "health.mode",
    "global.metadataCollector": "health.mode",
    "global.faultQuarantine": "health.mode",
    "global.nodeDrainer": "health.mode",
    "global.mongodbStore": "health.datastoreSecret",
    "global.faultRemediation": _BY_HAND,
    "global.janitor": _BY_HAND,
    "global.janitorProvider": _BY_HAND,
    "global.preflight": "health.admit: its checks fail on Pods without a gang, and its limits are those of NVLink",
    "podMonitor.enabled": "monitoring.metrics",
    "gpu-health-monitor.affinity": "pools.<pool>.driver.source",
    "labeler.assumeDriverInstalled": "pools.<pool>.driver.source",
    "metadata-collector.runtimeClassName": "gpuOperator.nri",
    "fault-quarantine.gpuNodeLabel": "pools.<pool>.driver.source",
    "fault-quarantine.circuitBreaker": "pools.<pool>.scale",
    "fault-quarantine.ruleSets": "nothing: physical_ai/catalog/data/gpu/ has what is fatal",
    "node-drainer.systemNamespaces": "nothing: the platform's own namespaces",
    "node-drainer.userNamespaces": "nothing: a drain waits; the other modes delete Pods by force",
    "platformConnector.mongodbStore.clientCertMountPath": "health.datastoreSecret",
    "fault-quarantine.clientCertMountPath": "health.datastoreSecret",
    "node-drainer.clientCertMountPath": "health.datastoreSecret",
    "node-drainer.partialDrainEnabled": "nothing: a drain is one of the whole node",
}
"""Chart keys that the user's values file may not set. Each value names the setting to change instead, or says
why there is none.
"""


def is_wanted(settings: Settings) -> bool:
    """True if the stack installs NVSentinel: in every health mode except `alert`."""
    return health.reaches(settings, "detect")


def nvsentinel_plan(settings: Settings, root: FilePath) -> Planned:
    """Plan of the part for a stack, and the faults of the user's values file; the plan is None in the health mode
    `alert`."""
    if not is_wanted(settings):
        return None, []
    pinned = newest_chart(CHART)
    values, faults = values_of_chart(root, FILE, pinned, OWNED, chart_values(settings))
    release = ReleasePlan(
        key="release",
        name=RELEASE,
        namespaces=(NAMESPACE,),
        chart=pinned,
        values=values,
        timeout_seconds=TIMEOUT_SECONDS,
    )
    return PartPlan((release,), before=tuple(health_limits(settings)), secrets=_secrets(settings)), faults


def _secrets(settings: Settings) -> tuple[SecretPlan, ...]:
    """Secret with the datastore's connection string; empty if NVSentinel does not act on nodes, or no datastore is
    set.
    """
    name = settings.health.datastore_secret
    if name is None or not health.reaches(settings, "taint"):
        return ()
    return (SecretPlan("datastore", NAMESPACE, DATASTORE_SECRET, {DATASTORE_KEY: name}),)


def chart_values(settings: Settings) -> dict[str, Any]:
    """Values that the program sets in NVSentinel's chart, before the user's values file is added."""
    drains, services = health.reaches(settings, "drain"), services_placement(settings)
    values: dict[str, Any] = {
        "global": {
            "dryRun": False,
            # Modules that are not for detection are off by default; they are listed here to be explicit.
            "gpuHealthMonitor": {"enabled": True},
            "syslogHealthMonitor": {"enabled": True},
            "labeler": {"enabled": True},
            "metadataCollector": {"enabled": True},
            "faultQuarantine": {"enabled": health.reaches(settings, "taint")},
            "nodeDrainer": {"enabled": drains},
            "faultRemediation": {"enabled": False},
            "janitor": {"enabled": False},
            "janitorProvider": {"enabled": False},
            "preflight": {"enabled": False},
            "mongodbStore": {"enabled": False},
            "dcgm": {"mode": "operator-service", "enabled": True},
            "tolerations": [{"operator": "Exists"}],
            "systemNodeSelector": services["nodeSelector"],
            **({"systemNodeTolerations": services["tolerations"]} if "tolerations" in services else {}),
        },
        # The kind PodMonitor exists only where Prometheus runs in the cluster.
        "podMonitor": {"enabled": settings.monitoring.metrics == "kube-prometheus"},
        GPU_MONITOR: {"affinity": _not_on_vgpu()},
        # The labeler looks for driver Pods, and finds none where no Pod brings the driver.
        "labeler": {
            "assumeDriverInstalled": any(
                driver_facts(pool).root == HOST_ROOT for pool in gpu.nvidia_pools(settings).values()
            )
        },
        "metadata-collector": {"runtimeClassName": "" if settings.gpu_operator.nri else RUNTIME_CLASS},
    }
    if health.reaches(settings, "taint"):
        values = merge_values(values, _quarantine(settings))
    if drains:
        values["node-drainer"] = {
            "clientCertMountPath": "",
            "systemNamespaces": f"^({'|'.join(_left_alone(settings))})$",
            # Other modes forcibly delete Pods that do not end in time, whatever their disruption budget
            # (node-drainer/pkg/informers, CheckIfAllPodsAreEvictedInImmediateMode, DeletePodsAfterTimeout).
            "userNamespaces": [{"name": "*", "mode": "AllowCompletion"}],
            "partialDrainEnabled": False,
        }
    return values


def _left_alone(settings: Settings) -> tuple[str, ...]:
    return PLATFORM_NAMESPACES if settings.slurm is None else (*PLATFORM_NAMESPACES, slurm.NAMESPACE)


def _quarantine(settings: Settings) -> dict[str, Any]:
    return {
        "global": {
            "datastore": {
                "provider": "mongodb",
                "credentialsFromSecret": {"name": DATASTORE_SECRET},
                "connection": {"database": "HealthEventsDatabase"},
                "tls": {"enabled": True},
                "auth": {"mechanism": "scram"},
            }
        },
        # With a path, the modules would wait for client certificates (values-cosmosdb-test.yaml of the chart).
        "platformConnector": {"mongodbStore": {"clientCertMountPath": ""}},
        "fault-quarantine": {
            "clientCertMountPath": "",
            "gpuNodeLabel": "=".join(GPU_NODE_LABEL),
            "circuitBreaker": {
                "enabled": True,
                "percentage": BREAKER_PERCENT,
                # Not a percentage: that would be of all GPU nodes, rounded up, such as two of five nodes, which may be
                # a whole pool.
                "maxNodes": health.breaker_nodes(settings),
                "duration": BREAKER_WINDOW,
            },
            "ruleSets": rule_sets(),
        },
    }


def rule_sets() -> list[dict[str, Any]]:
    """Rules of fault-quarantine: a node is cordoned for a fault after which its GPU has to be reset or replaced.

    The chart's own rules match every fatal event. NVSentinel also counts unknown errors as fatal, for example Xid 45,
    which appears whenever a job is killed.
    """
    codes = [code for code, item in dcgm_errors().items() if item.quarantine]
    xids = [str(code) for code in xids_of("node")]
    return [
        _rule_set("GPU errors of DCGM", GPU_MONITOR, codes),
        _rule_set("Xids of the node", SYSLOG_MONITOR, xids),
    ]


def quarantines(agent: str, codes: tuple[str, ...], is_fatal: bool) -> bool:
    """True if NVSentinel would cordon the node for an event with the error codes `codes` from the monitor `agent`. The
    condition is the same as in the expressions of `rule_sets`.
    """
    if agent == GPU_MONITOR:
        known = {code for code, item in dcgm_errors().items() if item.quarantine}
    else:
        known = {str(code) for code in xids_of("node")} if agent == SYSLOG_MONITOR else set[str]()
    return is_fatal and bool(known & set(codes))


def _rule_set(name: str, agent: str, codes: list[str]) -> dict[str, Any]:
    # Lists and strings have the same syntax in JSON and in CEL.
    event = (
        f'event.agent == "{agent}" && event.componentClass == "GPU" && event.isFatal == true'
        f" && event.errorCode.exists(code, code in {json.dumps(codes)})"
    )
    drivers = json.dumps([source.value for source in DriverSource if source is not DriverSource.GRID])
    node = (
        f'"{DRIVER_LABEL}" in node.metadata.labels && node.metadata.labels["{DRIVER_LABEL}"] in {drivers}'
        ' && !("nvsentinel.dgxc.nvidia.com/managed" in node.metadata.labels'
        ' && node.metadata.labels["nvsentinel.dgxc.nvidia.com/managed"] == "false")'
    )
    return {
        "enabled": True,
        "version": "1",
        "name": name,
        "match": {"all": [{"kind": "HealthEvent", "expression": event}, {"kind": "Node", "expression": node}]},
        # Kubernetes turns a cordon into a taint, which the DaemonSets of the GPU stack tolerate. With a taint of
        # NVSentinel's own, their Pods would not return after a restart, and the node could not be accepted again.
        "cordon": {"shouldCordon": True},
    }


def _not_on_vgpu() -> dict[str, Any]:
    off = {"key": DRIVER_LABEL, "operator": "NotIn", "values": [DriverSource.GRID.value]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [off]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
