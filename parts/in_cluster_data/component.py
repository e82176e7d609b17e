"""Data services in the cluster: PostgreSQL, Valkey and SeaweedFS, each one Pod with one volume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.random_values import generated_password
from components.data.endpoints import DataEndpoints
from components.kubernetes.agent_files import declare_files
from components.kubernetes.chart_part import ChartPart
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare
from parts.in_cluster_data.facts import BUCKETS, credential_secret, host
from parts.in_cluster_data.names import (
    CACHE,
    CONFIG_FILE,
    CREDENTIAL_FILE,
    IDENTITIES_FILE,
    PORTS,
    POSTGRES,
    STORAGE,
)
from parts.in_cluster_data.plan import SNAPSHOTS, InClusterPlan, SnapshotObjects, cache_config, credential, identities
from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.settings.facts.data_services import ADMINISTRATOR, DATABASE, PASSWORD_LENGTH

KEY_ID_LENGTH, KEY_LENGTH = 20, 40
"""Lengths of an access key's id and of its secret in AWS, whose S3 API SeaweedFS implements."""


class InClusterData(ChartPart):
    """OSMO's database, cache and storage in the namespace `osmo-control-plane`.

    Attributes:
        endpoints: addresses for the control plane, which is declared after the services' Pods.
    """

    endpoints: DataEndpoints

    def before(self) -> list[pulumi.Resource]:
        """Declares all objects of the data services, and returns an empty list: the part has no release that could
        wait for them.
        """
        name, plan, target = self.name, self._plan, self.args.target
        space = self.namespaces(CONTROL_NAMESPACE)
        given, objects = plan.settings, plan.objects
        postgres, cache = self._random("postgres-password"), self._random("cache-password")
        secrets = [
            self._data_secret(POSTGRES, {"password": postgres}),
            self._data_secret(CACHE, {CONFIG_FILE: cache.apply(lambda word: cache_config(given, word))}),
            *self._storage_keys(),
        ]
        first = declare(name, self, target, [objects.account], after=space, common="osmo-")
        services = declare(name, self, target, objects.services, after=space, common="osmo-")
        snapshots = [self._snapshots(objects.snapshots)] if objects.snapshots is not None else []
        claims = [self._claim(each, snapshots) for each in objects.claims]
        pods = declare(name, self, target, objects.stateful_sets, after=[*first, *secrets, *claims], common="osmo-")
        self.endpoints = DataEndpoints(
            postgres_host=host(POSTGRES),
            postgres_port=PORTS[POSTGRES],
            postgres_database=DATABASE,
            postgres_user=ADMINISTRATOR,
            postgres_password=postgres,
            redis_host=host(CACHE),
            redis_port=PORTS[CACHE],
            redis_key=cache,
            storage={},
            storage_account=None,
            vault=None,
            after=[*secrets, *services, *pods],
        )
        return []

    def reported(self) -> dict[str, Any]:
        return {}

    @property
    def _plan(self) -> InClusterPlan:
        assert isinstance(self.args.plan, InClusterPlan)  # the part's own plan
        return self.args.plan

    def _snapshots(self, objects: SnapshotObjects) -> VolumeSnapshots:
        args = VolumeSnapshotsArgs(self.args.target, self.namespaces(CONTROL_NAMESPACE), objects)
        return VolumeSnapshots(f"{self.name}-snapshots", args, pulumi.ResourceOptions(parent=self))

    def _random(self, what: str, length: int = PASSWORD_LENGTH) -> pulumi.Output[str]:
        """Random text, such as a password, of `length` characters. The text changes if the number
        `keyGeneration` in the settings is raised.
        """
        return generated_password(f"{self.name}-{what}-{{}}", length, self._plan.settings.key_generation, self._kept())

    def _kept(self) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, protect=True if self._plan.protected else None)

    def _storage_keys(self) -> list[pulumi.Resource]:
        """Declares the Secrets with the access keys of the buckets: one Secret with all keys for the storage server,
        and one Secret per bucket, with address and key, for OSMO.

        OSMO gives tasks only the key of the bucket `data`, which opens no other bucket.
        """
        ids = {bucket: self._random(f"{bucket}-key-id", KEY_ID_LENGTH) for bucket in BUCKETS}
        keys = {bucket: self._random(f"{bucket}-key", KEY_LENGTH) for bucket in BUCKETS}
        pairs = {bucket: pulumi.Output.all(ids[bucket], keys[bucket]) for bucket in BUCKETS}
        server = pulumi.Output.all(**pairs).apply(_identities)
        return [
            self._data_secret(STORAGE, {IDENTITIES_FILE: server}),
            *(
                self._data_secret(credential_secret(bucket), {CREDENTIAL_FILE: _credential(bucket, pair)})
                for bucket, pair in pairs.items()
            ),
        ]

    def _data_secret(self, secret: str, data: Mapping[str, pulumi.Output[str]]) -> pulumi.Resource:
        return kubernetes.core.v1.Secret(
            f"{self.name}-{secret.removeprefix('osmo-')}",
            metadata={"name": secret, "namespace": CONTROL_NAMESPACE},
            type="Opaque",
            string_data=dict(data),
            opts=self.options(self.namespaces(CONTROL_NAMESPACE)),
        )

    def _claim(self, claim: Mapping[str, Any], after: Sequence[pulumi.Resource]) -> pulumi.Resource:
        """Declares a PersistentVolumeClaim that Pulumi refuses to replace in a protected stack.

        A claim with another class or source would be a new volume, and the data would be lost.
        """
        options = self.options([*self.namespaces(CONTROL_NAMESPACE), *after])
        if self._plan.protected:
            options.protect = True
        return kubernetes.core.v1.PersistentVolumeClaim(
            f"{self.name}-{str(claim['metadata']['name']).removeprefix('osmo-')}-volume",
            metadata=claim["metadata"],
            spec=claim["spec"],
            opts=options,
        )


@dataclass(frozen=True)
class VolumeSnapshotsArgs:
    target: ClusterTarget
    namespace: Sequence[pulumi.Resource]
    objects: SnapshotObjects


class VolumeSnapshots(pulumi.ComponentResource):
    """Resources that take snapshots of the data services' volumes: a CronJob with its rights and its program, and a
    VolumeSnapshotClass unless the settings name an existing class.
    """

    def __init__(self, name: str, args: VolumeSnapshotsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:VolumeSnapshots", name, {}, opts)
        objects, target = args.objects, args.target
        if (given := objects.snapshot_class) is not None:
            # `apiextensions.CustomResource` has no arguments for fields outside of `spec`.
            pulumi.CustomResource(
                f"kubernetes:{given['apiVersion']}:{given['kind']}", f"{name}-class", dict(given), target.options(self)
            )
        rights = declare(name, self, target, objects.rights, after=args.namespace, common=SNAPSHOTS)
        code = declare_files(name, self, target, objects.config_map, args.namespace)
        declare(name, self, target, [objects.cron_job], after=[*rights, code], common=SNAPSHOTS)
        self.register_outputs({})


def _identities(pairs: Mapping[str, list[str]]) -> str:
    return identities({bucket: (pair[0], pair[1]) for bucket, pair in pairs.items()})


def _credential(bucket: str, pair: pulumi.Output[list[str]]) -> pulumi.Output[str]:
    return pair.apply(lambda given: credential(bucket, given[0], given[1]))


COMPONENT = InClusterData
