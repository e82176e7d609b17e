"""Clusters in which one Pod has exactly one cause, by the cause."""

from __future__ import annotations

from physical_ai.catalog.osmo import KAI_NAMESPACE, KAI_SCHEDULER
from tests.support import workload_objects as make
from tests.support.workload_objects import Scene, closed, crashing, kai, node, on, pod, unschedulable, waiting
from tests.support.workload_scenes import (
    FULL,
    H100,
    HOST,
    MISSING_PIECE,
    NO_NETWORK,
    NODES,
    READY,
    disrupted,
    failed,
    failed_in_azure,
    grown,
    in_azure,
    in_queue,
    judged,
    log,
    never_created,
    on_premises,
    refused,
    started,
    status,
    waits,
)

NO_RUNTIME = ("FailedCreatePodSandBox", 'no runtime for "nvidia" is configured')
GANG = tuple(kai(pod(f"train-{number}", **H100), "g") for number in range(2))
GANG_MESSAGE = (
    "PodSchedulingErrors: Resources were found for 1 pods while 2 are required for gang scheduling. Additional pods …"
)
NO_KAI = (make.deployment(KAI_NAMESPACE, KAI_SCHEDULER, 0),)

ONE_CAUSE: dict[str, Scene] = {
    "gang-incomplete": Scene(
        tuple(kai(pod(f"train-{number}", gpus=0), "g") for number in range(2)), NODES, {"groups": [make.group("g", 3)]}
    ),
    "gang-too-large": Scene(
        tuple(kai(pod(f"train-{number}", **H100), "g") for number in range(9)), NODES, {"groups": [make.group("g", 9)]}
    ),
    "scheduling-gate": Scene((pod(schedulingGates=[{"name": "kueue.x-k8s.io/admission"}], **H100),), NODES),
    "scheduler-down": Scene((kai(pod(**H100)),), NODES, {"deployments": NO_KAI}),
    "scheduler-unknown": Scene((pod(schedulerName="volcano", **H100),), NODES),
    "queue-missing": in_queue("QueueDoesNotExist: Queue 'x' does not exist.", "x"),
    "queue-parent-missing": in_queue("QueueDoesNotExist: …", queues=[make.queue("osmo-default", "osmo")]),
    "queue-limit": in_queue("OverLimit: default quota has reached the allowable limit of GPUs."),
    "queue-quota": in_queue("NonPreemptibleOverQuota: Workload requested 1 GPUs, but …"),
    "resource-unknown": Scene((unschedulable(pod(resource="nvidia.com/mig-1g.10gb", **H100), FULL),)),
    "too-large": Scene((waits(gpus=8),)),
    "toleration-missing": Scene((waits(tolerations=[]),)),
    "selects-no-pool": Scene((waits(nodeSelector={"agentpool": "h100"}),)),
    "selects-operator-label": Scene((waits(nodeSelector={"nvidia.com/gpu.product": "NVIDIA-H100-NVL"}),)),
    "scheduler-says": Scene(
        (unschedulable(pod(**H100), "0/4 nodes are available: 1 node(s) did not please the plugin Flux."),),
        NODES,
    ),
    "gang-does-not-fit": Scene(
        tuple(unschedulable(each, GANG_MESSAGE) for each in GANG), NODES, {"groups": [make.group("g", 2)]}
    ),
    "pods-affinity": Scene(
        (unschedulable(pod(**H100), "0/3 nodes: 3 node(s) didn't match pod anti-affinity rules."),), NODES
    ),
    "pool-fixed": Scene(
        (
            unschedulable(pod(gpus=0, nodeSelector={"agentpool": "system"}), "0/1 nodes: 1 Insufficient cpu."),
            on("aks-system-0", pod("holder", gpus=0), phase="Running"),
        ),
        (node("system"),),
    ),
    "pool-at-maximum": Scene(
        (waits(), *(on(f"aks-h100gpu-{number}", pod(f"h-{number}"), phase="Running") for number in range(4))),
        tuple(node("h100gpu", number) for number in range(make.declared_by_name()["h100gpu"].most)),
    ),
    "quota-exceeded": refused("QuotaExceeded"),
    "no-capacity": refused("AllocationFailed"),
    "no-capacity-in-zones": refused("ZonalAllocationFailed"),
    "quota-spot": refused("OperationNotAllowed: exceeding approved LowPriorityCores quota"),
    "region-full": refused("AKSCapacityHeavyUsage"),
    "disk-does-not-fit": refused("VMCannotFitEphemeralOSDisk"),
    "no-way-out": refused("VMExtensionProvisioningError: command terminated with exit status=50"),
    "no-api-server": refused("VMExtensionProvisioningError: command terminated with exit status=51"),
    "throttled": refused("SubscriptionRequestsThrottled"),
    "policy-denies": refused("RequestDisallowedByPolicy"),
    "upgrade-budget": in_azure(failed_in_azure("UnsatisfiablePDB", "PDB a/b has maxUnavailable == 0")),
    "upgrade-drain": in_azure(failed_in_azure("UpgradeFailed", "Drain node x failed when evicting pod y")),
    "azure-pool-missing": in_azure(None),
    "azure-pool-failed": in_azure({"provisioningState": "Failed"}),
    "azure-pool-stopped": in_azure({"provisioningState": "Succeeded", "powerState": {"code": "Stopped"}}),
    "azure-pool-changing": in_azure({"provisioningState": "Upgrading"}),
    "autoscaler-ignores-pool": Scene((waits(),), more={"autoscaler": status("aks-other-1-vmss")}),
    "subnet-full": refused("SubnetIsFull"),
    "scale-up-failed": refused("InternalError"),
    "scale-up": grown("TriggeredScaleUp", "pod triggered scale-up: [{aks-h100gpu-1-vmss 0->1 (max: 1)}]"),
    "autoscaler-refused": grown("NotTriggerScaleUp", "pod didn't trigger scale-up: 1 in backoff"),
    "autoscaler-pending": Scene((waits(),)),
    "servers-missing": on_premises(waits()),
    "volume-missing": judged('persistentvolumeclaim "data" not found'),
    "volume-unbound": Scene(
        (unschedulable(pod(**H100), "0/3 nodes: pod has unbound immediate PersistentVolumeClaims."),), NODES
    ),
    "volume-zone": Scene(
        (unschedulable(pod(**H100), "0/3 nodes: 1 node(s) had volume node affinity conflict."),), NODES
    ),
    "image-missing": started(waiting("ImagePullBackOff", "failed to pull and unpack image: nvcr.io/x:1: not found")),
    "image-login": started(waiting("ErrImagePull", "failed to resolve reference: 401 Unauthorized")),
    "image-limit": started(waiting("ErrImagePull", "429 Too Many Requests: toomanyrequests: You …")),
    "image-name": started(waiting("InvalidImageName", "couldn't parse image reference")),
    "image-pull": started(waiting("ImagePullBackOff", "Back-off pulling image")),
    "config-missing": started(waiting("ContainerCreating"), ("FailedMount", MISSING_PIECE)),
    "config-key-missing": started(waiting("CreateContainerConfigError", "couldn't find key token in Secret x")),
    "runtime-missing": started(waiting("ContainerCreating"), NO_RUNTIME),
    "volume-attach": started(waiting("ContainerCreating"), ("FailedAttachVolume", "Multi-Attach error for volume")),
    "network-missing": started(waiting("ContainerCreating"), ("FailedCreatePodSandBox", NO_NETWORK)),
    "network-not-ready": started(waiting("ContainerCreating"), ("NetworkNotReady", "network is not ready")),
    "device-unavailable": failed(reason="UnexpectedAdmissionError", message="Allocate failed due to requested …"),
    "starting": started(waiting("ContainerCreating"), ("Pulling", "Pulling image")),
    "node-gone": Scene((on("aks-h100gpu-9", pod(), phase="Running"),), NODES),
    "evicted": failed(reason="Evicted", message="The node was low on resource: ephemeral-storage."),
    "preempted": disrupted("PreemptionByScheduler"),
    "node-drained": disrupted("DeletionByTaintManager"),
    "deadline": failed(reason="DeadlineExceeded", message="Pod was active on the node longer than …"),
    "out-of-memory": started(crashing(137, "OOMKilled")),
    "gpu-out-of-memory": log("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
    "driver-too-old": log("CUDA driver version is insufficient for CUDA runtime version"),
    "no-gpu-requested": log("RuntimeError: No CUDA GPUs: no CUDA-capable device is detected", gpus=0),
    "no-device": log("Failed to initialize NVML: Unknown Error"),
    "graphics-missing": log("vkCreateInstance failed: VK_ERROR_INCOMPATIBLE_DRIVER"),
    "nccl": log("[rank3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5)"),
    "shared-memory": log("RuntimeError: DataLoader worker is killed by signal: Bus error"),
    "exec-format": started(crashing(128, "StartError", 'exec: "x.py": executable file not found in $PATH')),
    "failed": log("ValueError: no such task"),
    "not-ready": started({"state": {"running": {}}}, phase="Running"),
    "init-running": Scene(
        (
            on(
                HOST,
                pod(initContainers=[{"name": "init"}], **H100),
                initContainerStatuses=[{"name": "init", "ready": False, "state": {"running": {}}}],
            ),
        ),
        NODES,
    ),
    "creation-quota": never_created(
        'pods "train-0-x" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1'
    ),
    "creation-denied": never_created('pods "x" is forbidden: violates PodSecurity "baseline:latest": privileged'),
    "node-not-ready": Scene((on(HOST, pod(), phase="Unknown"),), (node("h100gpu", ready=False),)),
    "gpu-lost": Scene(
        (on(HOST, pod(), phase="Running", conditions=READY),),
        (node("h100gpu"),),
        {"reports": [closed(HOST)]},
    ),
    "finalizer": Scene(
        (make.deleted(on(HOST, pod(), phase="Running", conditions=READY)),),
        NODES,
    ),
}
"""Cause → a cluster in which Pod train-0 has it."""
