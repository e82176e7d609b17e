"""Snapshots of volumes, taken by the cluster: a class, and a program that runs each day."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare
from physical_ai.planning.in_cluster import SNAPSHOTS, SnapshotObjects


@dataclass(frozen=True)
class VolumeSnapshotsArgs:
    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    objects: SnapshotObjects


class VolumeSnapshots(pulumi.ComponentResource):
    """A VolumeSnapshotClass, unless the settings name one, and the CronJob with its rights and its program."""

    def __init__(self, name: str, args: VolumeSnapshotsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:VolumeSnapshots", name, {}, opts)
        objects, target = args.objects, args.target
        if (given := objects.snapshot_class) is not None:
            # `apiextensions.CustomResource` has no arguments for fields outside of `spec`.
            pulumi.CustomResource(
                f"kubernetes:{given['apiVersion']}:{given['kind']}", f"{name}-class", dict(given), target.options(self)
            )
        rights = declare(name, self, target, objects.rights, after=[args.namespace], common=SNAPSHOTS)
        # Another version is another object. A Job that runs still mounts the one before.
        files = target.options(self, [args.namespace])
        files.protect, files.retain_on_delete = False, True
        code = kubernetes.core.v1.ConfigMap(
            f"{name}-files",
            metadata=objects.config_map["metadata"],
            immutable=True,
            data=objects.config_map["data"],
            opts=files,
        )
        declare(name, self, target, [objects.cron_job], after=[*rights, code], common=SNAPSHOTS)
        self.register_outputs({})
