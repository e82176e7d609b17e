"""Recording of facts about each GPU machine: a small program on every GPU node, the program's rights, and the removal
of old records.
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare_agent
from physical_ai.planning.evidence_objects import EvidenceObjects

OBJECTS = "gpu-evidence"
"""Name of the Kubernetes objects that record GPU machines, or the first part of their names."""


@dataclass(frozen=True)
class GpuEvidenceArgs:
    """Inputs of `GpuEvidence`.

    `namespace` must allow host paths: the Pods read the host's Python and the data that the VM's hypervisor provides.
    """

    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    objects: EvidenceObjects


class GpuEvidence(pulumi.ComponentResource):
    """Two DaemonSets that record facts about GPU machines, and a CronJob that removes old records. The second DaemonSet
    uses `nvidia-smi`.

    Order of creation: the policies that limit the program's rights, the rights, the Pods. The engine does not wait for
    the Pods.
    """

    def __init__(self, name: str, args: GpuEvidenceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:GpuEvidence", name, {}, opts)
        objects, target = args.objects, args.target
        after = declare_agent(name, self, target, objects, namespace=args.namespace, common=OBJECTS)
        for each in objects.daemon_sets:
            own = str(each["metadata"]["name"]).removeprefix(f"{OBJECTS}-")
            kubernetes.apps.v1.DaemonSet(
                f"{name}-{own}", metadata=each["metadata"], spec=each["spec"], opts=target.options(self, after)
            )
        kubernetes.batch.v1.CronJob(
            f"{name}-retention",
            metadata=objects.cron_job["metadata"],
            spec=objects.cron_job["spec"],
            opts=target.options(self, after),
        )
        self.register_outputs({})
