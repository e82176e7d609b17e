"""Jobs that check GPU nodes. They are the same whether `physai accept` creates them or the program declares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parts.dra.claims import check_claim
from physical_ai.catalog.acceptance import CHECK_LABEL, TASK_DIAGNOSTIC, Check, checks, floors
from physical_ai.settings.facts.acceptance import gpu_request, image_of, not_for, pool_checks
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.facts.pools import gpus_per_node, pool_selector, tolerations
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

NAMESPACE = OPERATOR_NAMESPACE
"""Namespace of the Pods of acceptance checks.

The admission policies for GPU Pods exempt this namespace, because one of the checks requests only the driver capability
`compute`.
"""
CONTAINER = "check"
CLAIM = "gpus"
"""Name of the resource claim in a check's Pod, for pools on which Pods get GPUs by resource claims."""
PEERS = "device_to_device_memcpy_read_ce"
"""Name of nvbandwidth's test between GPUs."""
ACCOUNT = "gpu-acceptance"
PRIORITY_CLASS = "gpu-acceptance-idle"
DIAGNOSTIC = "diag-2"
NEVER = "0 0 1 1 *"
"""Schedule of suspended CronJobs, in which it has no effect: Kubernetes requires the field."""
_COMMON: tuple[dict[str, Any], ...] = (
    {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": ACCOUNT, "namespace": NAMESPACE},
        "automountServiceAccountToken": False,
    },
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": PRIORITY_CLASS},
        # Below -10, the priority from which on the autoscaler adds a node for a Pod
        # (--expendable-pods-priority-cutoff).
        "value": -100,
        "preemptionPolicy": "Never",
        "description": "Checks of idle GPU nodes: they give way to all other Pods, and make no pool grow.",
    },
)
"""Objects that the Jobs of all checks need. The service account has no rights: it exists for imagePullSecrets."""
_REST = {"cpu": "1", "memory": "4Gi"}
"""Resource requests of a check beside GPUs. There are no limits: the check has the node for itself while it runs."""


def command(check: Check, pool: Pool) -> list[str]:
    """Command of the check, with the arguments that depend on the node's size; empty for the image's own command."""
    gpus = gpus_per_node(pool)
    given = list(check.command)
    if check.output == "nvbandwidth" and gpus > 1:
        given.append(PEERS)
    if check.output == "nccl":
        floor = floors().get(pool.sku)
        # A floor holds for one message size, so only that one is measured. Without a floor, all sizes are.
        sizes = (floor.nccl.bytes,) * 2 if floor is not None and floor.nccl is not None else ("8", "8G")
        given += ["-b", sizes[0], "-e", sizes[1], "-g", str(gpus)]
    return given


def pod_spec(check: Check, pool: Pool, image: str, *, tolerations: list[dict[str, str]]) -> dict[str, Any]:
    """Spec of a Pod that runs a check once, without rights in the cluster. The spec selects no node; callers add the
    selection.
    """
    wanted, own = gpu_request(check, pool), command(check, pool)
    gpus = {name: str(count) for name, count in wanted.items()}
    claim = {"name": CLAIM, "resourceClaimTemplateName": check_claim(sum(wanted.values()))}
    by_claim: dict[str, Any] = {"requests": dict(_REST), "claims": [{"name": CLAIM}]}
    by_resource: dict[str, Any] = {"requests": {**_REST, **gpus}, "limits": gpus}
    return {
        **({"resourceClaims": [claim]} if pool.uses_claims else {}),
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "tolerations": tolerations,
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": CONTAINER,
                "image": image,
                **({"command": own} if own else {}),
                "env": [
                    {"name": "NVIDIA_DRIVER_CAPABILITIES", "value": check.capabilities},
                    # Variables of Isaac Sim: they accept its licence, and switch off its telemetry.
                    *(
                        [{"name": "ACCEPT_EULA", "value": "Y"}, {"name": "PRIVACY_CONSENT", "value": "N"}]
                        if check.output == "isaac-sim"
                        else []
                    ),
                ],
                "resources": by_claim if pool.uses_claims else by_resource,
                "securityContext": {"allowPrivilegeEscalation": False},
            }
        ],
    }


def job_spec(check: Check, spec: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Spec of a Job that runs the Pod once, without a retry, and is ended when it takes too long."""
    return {
        "backoffLimit": 0,
        "completions": 1,
        "parallelism": 1,
        "activeDeadlineSeconds": check.minutes * 60,
        "ttlSecondsAfterFinished": 86400,
        "template": {"metadata": {"labels": {**labels, CHECK_LABEL: check.name}}, "spec": dict(spec)},
    }


def node_job(
    check: Check, pool: Pool, image: str, *, node: str, hostname: str, labels: Mapping[str, str]
) -> dict[str, Any]:
    """Job of a check on one node; the API server completes the Job's name. The Job tolerates every taint, because nodes
    are checked also while a taint keeps other work off them.
    """
    spec = pod_spec(check, pool, image, tolerations=[{"operator": "Exists"}])
    spec["nodeSelector"] = {"kubernetes.io/hostname": hostname}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "generateName": f"accept-{check.name}-",
            "namespace": NAMESPACE,
            "labels": {**labels, CHECK_LABEL: check.name},
            "annotations": {"physical-ai/node": node},
        },
        "spec": job_spec(check, spec, labels),
    }


def task_diagnostic(settings: Settings, pool: Pool, gpus: Mapping[str, str]) -> dict[str, Any] | None:
    """Init container that checks the GPUs of a workflow task before the task starts. None if the settings disable the
    check, if there is no image for the check, or if the check cannot run on the pool.

    Args:
        gpus: GPU limits of the task's container. The init container has the same limits, and so gets the same GPUs.
    """
    check = checks()["diag-1"]
    image = image_of(settings, check)
    if not settings.health.acceptance.before_tasks or image is None or not_for(check, pool):
        return None
    return {
        "name": TASK_DIAGNOSTIC,
        "image": image,
        "command": list(check.command),
        "env": [{"name": "NVIDIA_DRIVER_CAPABILITIES", "value": check.capabilities}],
        "resources": {"requests": dict(gpus), "limits": dict(gpus)},
        "securityContext": {"allowPrivilegeEscalation": False},
    }


def declared_jobs(settings: Settings) -> list[dict[str, Any]]:
    """Objects that the program declares for checks: suspended CronJobs, and the diagnostic of idle nodes; empty by
    default.
    """
    given = settings.health.acceptance
    found: list[dict[str, Any]] = []
    for name, pool in settings.pools.items():
        for each in pool_checks(pool, "burn-in") if given.declare_jobs else ():
            image = image_of(settings, each.check)
            if not each.skipped and each.check.nodes == 1 and image is not None:
                found.append(_cron_job(f"accept-{each.check.name}-{name}", name, pool, each.check, image=image))
        diagnostic = checks()[DIAGNOSTIC]
        image = image_of(settings, diagnostic)
        if given.diagnose_idle is not None and image is not None and not not_for(diagnostic, pool):
            cron_name = f"idle-{DIAGNOSTIC}-{name}"
            own = _cron_job(cron_name, name, pool, diagnostic, image=image, schedule=given.diagnose_idle)
            found.append(_on_every_idle_node(own, name, pool))
    return [*_COMMON, *found] if found else []


def _cron_job(
    cron_name: str, pool_name: str, pool: Pool, check: Check, *, image: str, schedule: str = NEVER
) -> dict[str, Any]:
    spec = pod_spec(check, pool, image, tolerations=tolerations(pool))
    spec |= {"nodeSelector": pool_selector(pool_name, pool), "serviceAccountName": ACCOUNT}
    labels = pool_selector(pool_name, pool)
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": cron_name, "namespace": NAMESPACE, "labels": {CHECK_LABEL: check.name}},
        "spec": {
            "schedule": schedule,
            "timeZone": "Etc/UTC",
            "suspend": schedule == NEVER,
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 3600,
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 3,
            "jobTemplate": {"metadata": {"labels": labels}, "spec": job_spec(check, spec, labels)},
        },
    }


def _on_every_idle_node(cron_job: dict[str, Any], pool_name: str, pool: Pool) -> dict[str, Any]:
    """The CronJob, changed to run a Pod on each idle node: as many Pods as the pool may have nodes, at most one on a
    node. Pods that find no idle node end with the Job.
    """
    job: dict[str, Any] = cron_job["spec"]["jobTemplate"]["spec"]
    del job["completions"]
    job["parallelism"] = max(pool.scale.most, 1)
    labels = {**pool_selector(pool_name, pool), CHECK_LABEL: DIAGNOSTIC}
    apart = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    job["template"]["spec"] |= {
        "priorityClassName": PRIORITY_CLASS,
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}},
    }
    return cron_job
