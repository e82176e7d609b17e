"""Conversion of a stack's pools to OSMO's Pod templates, resource validations, pools and platforms.

A pool that is added to the settings becomes a platform without further changes.
"""

from __future__ import annotations

from typing import Any

from parts.in_cluster_data.facts import in_cluster
from parts.in_cluster_data.names import PATH_STYLE
from parts.network_operator.names import NETWORKS_ANNOTATION
from parts.traces.names import ADDRESS as COLLECTOR
from physical_ai.catalog.azure_identity import IDENTITY_USE_LABEL
from physical_ai.catalog.osmo import SCHEDULER, SERVICE_ACCOUNT, TASK_LABEL, WORKFLOW_LABEL
from physical_ai.planning.acceptance import task_diagnostic
from physical_ai.planning.nccl_topology import add_fabric
from physical_ai.settings.facts.gpu import FINISH_FIRST_LABEL
from physical_ai.settings.facts.osmo import (
    CPU_PLATFORM,
    DEFAULT_GRACE_SECONDS,
    POD_POOL_LABEL,
    OsmoPlatformFacts,
    platforms,
)
from physical_ai.settings.facts.osmo_access import router_address
from physical_ai.settings.facts.pools import CPU_POOL
from physical_ai.settings.models.tree import Settings

DEFAULT_POOL = "default"
CONTROL_TEMPLATE = "control"
TASK_TEMPLATE = "task"
COMMON_VALIDATION = "amounts"
CAPABILITIES = "NVIDIA_DRIVER_CAPABILITIES"
"""Environment variable that lists the driver capabilities of a container. Without it, a container gets CUDA but no
Vulkan, and the driver reports no error.
"""
CONTAINER = "{{USER_CONTAINER_NAME}}"
_MEMORY_PART, _STORAGE_PART, _SHM_PART = (3, 4), (1, 2), (1, 4)
"""Default resources of a GPU task as fractions (numerator, denominator): `_MEMORY_PART` of the memory and CPUs in the
task's share of the node, `_STORAGE_PART` of the storage in that share, and `_SHM_PART` of the task's memory as shared
memory.
"""

LARGEST_SHM = 16
"""Maximum of the default shared memory of a task, in GiB. Data loaders use shared memory, which counts as memory of the
container.
"""

Assertion = dict[str, str]


def template_name(platform: str) -> str:
    return f"platform-{platform}"


def pod_templates(settings: Settings) -> dict[str, Any]:
    """Pod templates by name: one for OSMO's own container, one for every task, and one for each platform.

    Each platform needs only one template besides the two common ones. OSMO appends the lists of all templates of a
    task, so items could occur twice if a platform had several templates. The names differ from the chart's, because
    Helm would merge templates of the same name.
    """
    return {
        CONTROL_TEMPLATE: _control_template(settings),
        TASK_TEMPLATE: _task_template(sends_traces=settings.monitoring.traces is not None),
        **{template_name(item.name): platform_template(settings, item) for item in platforms(settings)},
    }


def _control_template(settings: Settings) -> dict[str, Any]:
    requests = {"cpu": "250m", "memory": "1Gi", "ephemeral-storage": "3Gi"}
    limits = {"memory": "16Gi", "ephemeral-storage": "3Gi"}
    container: dict[str, Any] = {"name": "osmo-ctrl", "resources": {"requests": requests, "limits": limits}}
    if in_cluster(settings) is not None:
        # The container reads and writes the storage in the cluster, which needs this variable.
        container["env"] = [dict(PATH_STYLE)]
    return {"spec": {"containers": [container]}}


def _task_template(*, sends_traces: bool) -> dict[str, Any]:
    """Template of every task: requests equal to limits, shared memory, the workflows' identity, and time to finish
    before the node's driver is upgraded.

    The template requests no GPU, not even 0: because of a request for 0 GPUs, KAI's admission would give CPU tasks the
    NVIDIA runtime (NVIDIA/OSMO#937).
    """
    amounts = {"cpu": "{{USER_CPU}}", "memory": "{{USER_MEMORY}}", "ephemeral-storage": "{{USER_STORAGE}}"}
    return {
        "metadata": {"labels": {IDENTITY_USE_LABEL: "true", FINISH_FIRST_LABEL: "true"}},
        "spec": {
            "serviceAccountName": SERVICE_ACCOUNT,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": DEFAULT_GRACE_SECONDS,
            "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "{{USER_SHM_SIZE}}"}}],
            "containers": [
                {
                    "name": CONTAINER,
                    "resources": {"requests": dict(amounts), "limits": dict(amounts)},
                    "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}],  # noqa: S108 - where it has to be
                    **({"env": _trace_environment()} if sends_traces else {}),
                }
            ],
        },
    }


def _trace_environment() -> list[dict[str, Any]]:
    """Environment variables by which an OpenTelemetry SDK sends spans, with the names of workflow and task
    (OpenTelemetry specification, environment variables).
    """

    def label(name: str) -> dict[str, Any]:
        return {"fieldRef": {"fieldPath": f"metadata.labels['{name}']"}}

    return [
        {"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": COLLECTOR},
        {"name": "OTEL_EXPORTER_OTLP_PROTOCOL", "value": "http/protobuf"},
        {"name": "OTEL_SERVICE_NAME", "valueFrom": label(TASK_LABEL)},
        {"name": "OSMO_WORKFLOW_ID", "valueFrom": label(WORKFLOW_LABEL)},
        {"name": "OTEL_RESOURCE_ATTRIBUTES", "value": f"{WORKFLOW_LABEL}=$(OSMO_WORKFLOW_ID)"},
        # The collector accepts traces only, no metrics.
        {"name": "OTEL_METRICS_EXPORTER", "value": "none"},
        {"name": "OTEL_LOGS_EXPORTER", "value": "none"},
    ]


def platform_template(settings: Settings, item: OsmoPlatformFacts) -> dict[str, Any]:
    """Pod template of a platform: it selects the nodes, tolerates their taints, and requests the GPUs.

    The nodes are selected by the label of their pool, because labels with the GPU's name appear only after a node has
    started, and a pool may have no nodes. Of a platform that several pools serve, they are selected by a label that
    these pools share, not by affinity: OSMO assigns nodes to platforms by the node selector.
    """
    spec: dict[str, Any] = {"nodeSelector": item.node_selector}
    if item.grace_seconds != DEFAULT_GRACE_SECONDS:
        spec["terminationGracePeriodSeconds"] = item.grace_seconds
    if item.tolerations:
        spec["tolerations"] = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in item.tolerations]
    if item.resource is not None:
        gpus = {item.resource: "{{USER_GPU}}"}
        spec["containers"] = [
            {
                "name": CONTAINER,
                "env": [{"name": CAPABILITIES, "value": "all"}],
                "resources": {"requests": dict(gpus), "limits": dict(gpus)},
            }
        ]
        add_fabric(settings, item, spec)
        diagnostic = task_diagnostic(settings, settings.pools[item.pool], gpus)
        if diagnostic is not None:
            # OSMO merges items by name, so it appends this init container to its own one.
            spec["initContainers"] = [diagnostic]
    metadata: dict[str, Any] = {"labels": {POD_POOL_LABEL: item.pool}}
    if item.own.networks:
        metadata["annotations"] = {NETWORKS_ANNOTATION: ",".join(item.own.networks)}
    return {"metadata": metadata, "spec": spec}


def _assertion(left: str, operator: str, right: str, message: str) -> Assertion:
    return {"operator": operator, "left_operand": left, "right_operand": right, "assert_message": message}


def resource_validations(settings: Settings) -> dict[str, list[Assertion]]:
    """Resource validations by name: one for all tasks, and one for each platform.

    The validations contain fixed limits, not values of existing nodes: with such values, OSMO would refuse every task
    of a pool that has no nodes.
    """
    common = [
        _assertion("{{USER_CPU}}", "GT", "0", "cpu must be above 0"),
        _assertion("{{USER_MEMORY}}", "GT", "0", "memory must be above 0"),
        _assertion("{{USER_STORAGE}}", "GT", "0", "storage must be above 0"),
    ]
    return {
        COMMON_VALIDATION: common,
        **{template_name(item.name): platform_validation(item) for item in platforms(settings)},
    }


def platform_validation(item: OsmoPlatformFacts) -> list[Assertion]:
    """Limits of a task on the platform: the task has to fit one node. On a platform with GPUs, it has to request GPUs
    explicitly; on any other platform, it must not request GPUs.
    """
    size, room = f"a node of pool {item.pool}", item.room
    limits = [
        _assertion("{{USER_CPU}}", "LE", str(room.cpus), f"{size} leaves {room.cpus} CPUs for a task"),
        _assertion("{{USER_MEMORY}}", "LE", f"{room.memory_gib}Gi", f"{size} leaves {room.memory_gib}Gi of memory"),
        _assertion("{{USER_STORAGE}}", "LE", f"{room.storage_gib}Gi", f"{size} leaves {room.storage_gib}Gi of disk"),
    ]
    if not item.has_gpu:
        return [
            _assertion("{{USER_GPU}}", "EQ", "0", f"platform {item.name} has no GPU; choose another platform"),
            *limits,
        ]
    most = f"a task may request at most {item.most} on platform {item.name}"
    return [
        _assertion("{{USER_GPU}}", "GE", "1", f"write gpu explicitly, 1 or more, for platform {item.name}"),
        _assertion("{{USER_GPU}}", "LE", str(item.most), f"gpu: {most}"),
        *limits,
    ]


def default_variables(item: OsmoPlatformFacts) -> dict[str, Any]:
    """Default resources of a task that requests none. On a platform with GPUs they are a fraction of the node's
    resources for each GPU; on other platforms they are fixed amounts.

    The number of GPUs, `USER_GPU`, has no default here, so it stays 0 as the pool sets it. With a default of 1, a task
    would occupy a GPU that its container cannot see: OSMO looks only at the workflow to decide whether a container gets
    a GPU.
    """
    memory = max(_part(item.share.memory_gib, _MEMORY_PART), 1)
    return {
        "USER_CPU": max(_part(item.share.cpus, _MEMORY_PART), 1) if item.has_gpu else 1,
        "USER_MEMORY": f"{memory}Gi" if item.has_gpu else "2Gi",
        "USER_STORAGE": f"{max(_part(item.share.storage_gib, _STORAGE_PART), 1)}Gi" if item.has_gpu else "10Gi",
        "USER_SHM_SIZE": f"{min(max(_part(memory, _SHM_PART), 1), LARGEST_SHM)}Gi" if item.has_gpu else "1Gi",
    }


def _part(whole: int, part: tuple[int, int]) -> int:
    return whole * part[0] // part[1]


def platform(item: OsmoPlatformFacts) -> dict[str, Any]:
    """Configuration of a platform in an OSMO pool."""
    named = template_name(item.name)
    what = f"{item.most} x {item.resource} at most" if item.has_gpu else "without GPU"
    result: dict[str, Any] = {
        "description": f"{_node_pools(item)}, {what}",
        "override_pod_template": [named],
        "resource_validations": [named],
        "default_variables": default_variables(item),
    }
    own = item.own
    if own.privileged:
        result["privileged_allowed"] = True
    if own.host_network:
        result["host_network_allowed"] = True
    if own.mounts:
        result["allowed_mounts"] = list(own.mounts)
    return result


def _node_pools(item: OsmoPlatformFacts) -> str:
    return f"Node pools {', '.join(item.pools)}" if item.pools else f"Node pool {item.pool}"


def pools(settings: Settings) -> dict[str, Any]:
    """OSMO's pools by name.

    With shared queues, one pool has all platforms. With separate queues, the default pool has only the CPU platform,
    and each GPU platform has a pool that contains the GPU platform and the CPU platform.
    """
    every = platforms(settings)
    cpu, gpus = every[0], every[1:]
    if settings.osmo.queues == "shared":
        return {DEFAULT_POOL: _pool(settings, every, CPU_PLATFORM, None)}
    result = {DEFAULT_POOL: _pool(settings, [cpu], CPU_PLATFORM, {"guarantee": -1, "maximum": -1, "weight": 1})}
    for item in gpus:
        quota = item.own.quota.model_dump()
        if item.name not in result:
            result[item.name] = _pool(settings, [cpu, item], item.name, quota)
    return result


def _pool(
    settings: Settings, items: list[OsmoPlatformFacts], default: str, quota: dict[str, int] | None
) -> dict[str, Any]:
    times = settings.osmo.timeouts
    return {
        "description": f"Stack {settings.stack}",
        "backend": settings.osmo.backend_name,
        "default_platform": default,
        "default_exec_timeout": times.exec_default,
        "max_exec_timeout": times.exec_max,
        "default_queue_timeout": times.queue_default,
        "max_queue_timeout": times.queue_max,
        "common_pod_template": [CONTROL_TEMPLATE, TASK_TEMPLATE],
        "common_resource_validations": [COMMON_VALIDATION],
        "common_default_variables": {"USER_GPU": 0, **default_variables(_cpu(items))},
        **({"resources": {"gpu": quota}} if quota is not None else {}),
        "platforms": {item.name: platform(item) for item in items},
    }


def _cpu(items: list[OsmoPlatformFacts]) -> OsmoPlatformFacts:
    return next(item for item in items if item.pool == CPU_POOL)


def backends(settings: Settings) -> dict[str, Any]:
    """The stack's cluster as a backend in OSMO's configuration, by name. The agent reports the namespace itself."""
    scheduler = {"scheduler_type": "kai", "scheduler_name": SCHEDULER, "scheduler_timeout": 30}
    backend: dict[str, Any] = {"description": f"AKS, {settings.stack}", "scheduler_settings": scheduler}
    if address := router_address(settings):
        backend["router_address"] = address
    return {settings.osmo.backend_name: backend}
