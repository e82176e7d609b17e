"""A Slurm cluster: values of the charts of SchedMD's operator and of the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from parts.part import PartPlan, Planned, ReleasePlan
from parts.slurm import names
from parts.slurm.facts import gres, partition, slurm_pools
from physical_ai.catalog.charts import newest_chart
from physical_ai.catalog.health_events import XID_CHECK, dcgm_errors
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.settings.facts.pools import (
    gpu_resource,
    gpus_per_node,
    pool_selector,
    services_placement,
    services_selector,
    tolerations,
    tolerations_for,
)
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

_IMAGES = "the images in parts/slurm/names.py"
OPERATOR_OWNED = {
    "certManager": "nothing: the webhook's certificate is the chart's own, without cert-manager",
    "crds": "nothing: the operator and its definitions are of one release",
    "operator.affinity": "cpuPool",
    "operator.tolerations": "cpuPool",
    "operator.namespaces": "nothing: it watches the Slurm cluster's namespace only",
    "webhook.affinity": "cpuPool",
    "webhook.tolerations": "cpuPool",
    "webhook.namespaces": "nothing: it watches the Slurm cluster's namespace only",
    "propagatedNodeConditions": "health.mode",
}
CLUSTER_OWNED = {
    "configFiles": "slurm.pools: GPUs are detected",
    "controller.extraConfMap.GresTypes": "slurm.pools",
    "controller.podSpec": "cpuPool",
    f"controller.{names.CONTROLLER}.image": _IMAGES,
    "controller.logfile.image": _IMAGES,
    f"restapi.{names.REST}.image": _IMAGES,
    "loginsets": "slurm.login",
    "nodesets": "slurm.pools",
    "partitions": "slurm.pools",
    "restapi.podSpec": "cpuPool",
}
"""Chart keys that the user's values files may not set. Each value names the setting to change instead, or says
why there is none.
"""
TIMEOUT_SECONDS = 900


def slurm_plan(settings: Settings, root: FilePath) -> Planned:
    """Plan of the part for a stack, and the faults of the user's values files; the plan is None without `slurm`."""
    if settings.slurm is None:
        return None, []
    # Both charts are released together; the first brings the CustomResourceDefinitions for the second.
    pins = [newest_chart(name) for name in (names.OPERATOR_CHART, names.CLUSTER_CHART)]
    operator, refused = values_of_chart(
        root, f"slurm/{names.OPERATOR_CHART}-values.yaml", pins[0], OPERATOR_OWNED, operator_values(settings)
    )
    cluster, others = values_of_chart(
        root, f"slurm/{names.CLUSTER_CHART}-values.yaml", pins[1], CLUSTER_OWNED, cluster_values(settings)
    )
    releases = (
        ReleasePlan(
            key="operator",
            name=names.OPERATOR_RELEASE,
            namespaces=(names.OPERATOR_NAMESPACE, names.NAMESPACE),
            chart=pins[0],
            values=operator,
            timeout_seconds=TIMEOUT_SECONDS,
        ),
        ReleasePlan(
            key="cluster",
            name=names.CLUSTER_RELEASE,
            namespaces=(names.NAMESPACE, names.OPERATOR_NAMESPACE),
            chart=pins[1],
            values=cluster,
            # The cluster is deleted before the operator, because the operator removes the cluster's objects.
            needs=("operator",),
            timeout_seconds=TIMEOUT_SECONDS,
        ),
    )
    return PartPlan(releases), [*refused, *others]


def operator_values(settings: Settings) -> dict[str, Any]:
    """Values of the operator's chart. The operator drains a node in Slurm once it is cordoned in Kubernetes."""
    tolerated = tolerations_for(settings.cpu_pool.tolerate)
    place = {"affinity": _on_cpu_pool(settings), "tolerations": tolerated, "namespaces": names.NAMESPACE}
    return {
        "crds": {"enabled": True},
        "certManager": {"enabled": False},
        "operator": place,
        "webhook": place,
        "propagatedNodeConditions": health_conditions(),
    }


def health_conditions() -> list[str]:
    """Types of node conditions for which NVSentinel cordons a node: the operator copies them into the reason of
    Slurm's drain.
    """
    return sorted({XID_CHECK, *(each.check for each in dcgm_errors().values() if each.quarantine)})


def _on_cpu_pool(settings: Settings) -> dict[str, Any]:
    """Affinity to the nodes of the cpu pool, because the chart has no node selector."""
    labels = services_selector(settings).items()
    return _required(*({"key": key, "operator": "In", "values": [value]} for key, value in labels))


def _required(*expressions: Mapping[str, Any]) -> dict[str, Any]:
    """Affinity to nodes that meet all of `expressions`."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def cluster_values(settings: Settings) -> dict[str, Any]:
    """Values of the Slurm cluster's chart, with a NodeSet and a partition for each pool."""
    pools = slurm_pools(settings)
    here = {"podSpec": services_placement(settings)}
    return {
        "configFiles": {"gres.conf": "AutoDetect=nvidia\n"},
        "controller": {
            "extraConfMap": {"GresTypes": [names.RESOURCE_TYPE]},
            names.CONTROLLER: {"image": names.image(names.CONTROLLER)},
            "logfile": {"image": names.image(names.CONTROLLER)},
            **here,
        },
        "restapi": {names.REST: {"image": names.image(names.REST)}, **here},
        # Switches off the chart's sample NodeSet: Helm merges values, so it would remain beside these.
        "nodesets": {"slinky": {"enabled": False}, **{name: _nodeset(name, pool) for name, pool in pools.items()}},
        "partitions": {
            "all": {"enabled": False},
            **{name: {"enabled": True, "nodesets": [name], "configMap": partition(settings, name)} for name in pools},
        },
        "loginsets": {"slinky": _login(settings)},
    }


def _nodeset(name: str, pool: Pool) -> dict[str, Any]:
    """Values of the NodeSet of a pool: one slurmd on each node, with all of the node's GPUs, which Slurm divides among
    jobs.

    The images are set explicitly because up to version 1.1 the chart has default images only for its own sample
    NodeSet. The container that prints the log needs only a shell, and uses slurmd's image, so no image from another
    registry or with a floating tag is pulled.
    """
    limits = {gpu_resource(pool): gpus_per_node(pool)}
    return {
        "enabled": True,
        "scalingMode": "DaemonSet",
        # The operator ignores the number in this mode, but the disruption controller reads it through the kind's scale:
        # if it is lower than the number of nodes, Pods with jobs may be evicted (kubernetes, disruption controller).
        "replicas": pool.scale.most,
        names.NODE: {"image": names.image(names.NODE), "resources": {"limits": limits}},
        "logfile": {"image": names.image(names.NODE)},
        "extraConfMap": {"Gres": [gres(pool)], "Features": [name]},
        "partition": {"enabled": False},
        "podSpec": {
            "nodeSelector": pool_selector(name, pool),
            "tolerations": tolerations(pool),
            "affinity": _required({"key": names.OUT_LABEL, "operator": "DoesNotExist"}),
        },
        # An eviction waits until the node's jobs have ended.
        "workloadDisruptionProtection": True,
    }


def _login(settings: Settings) -> dict[str, Any]:
    login = settings.slurm.login if settings.slurm is not None else None
    if login is None:
        return {"enabled": False}
    return {
        "enabled": True,
        "replicas": 1,
        names.LOGIN: {"image": names.image(names.LOGIN)},
        "initconf": {"image": names.image(names.LOGIN)},
        "rootSshAuthorizedKeys": "\n".join(login.ssh_keys),
        "podSpec": services_placement(settings),
        # The chart's default is a load balancer with a public address.
        "service": {"spec": {"type": "ClusterIP"}},
    }
