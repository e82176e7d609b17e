"""Data services in the cluster: PostgreSQL, Valkey and SeaweedFS, each one Pod with one volume."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.random_values import generated_password
from components.data.endpoints import DataEndpoints
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare
from components.kubernetes.volume_snapshots import VolumeSnapshots, VolumeSnapshotsArgs
from physical_ai.catalog.in_cluster import (
    CACHE,
    CONFIG_FILE,
    CREDENTIAL_FILE,
    IDENTITIES_FILE,
    PORTS,
    POSTGRES,
    STORAGE,
)
from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.planning.in_cluster import InClusterObjects, cache_config, credential, identities
from physical_ai.settings.facts.data_services import ADMINISTRATOR, DATABASE, PASSWORD_LENGTH
from physical_ai.settings.facts.in_cluster import BUCKETS, credential_secret, host
from physical_ai.settings.models.in_cluster import InCluster

KEY_ID_LENGTH, KEY_LENGTH = 20, 40
"""As S3 keys of AWS have them."""


@dataclass(frozen=True)
class InClusterDataArgs:
    """`protected`: volumes and generated secrets refuse to be deleted, beyond the options of the component."""

    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    settings: InCluster
    objects: InClusterObjects
    protected: bool


class InClusterData(pulumi.ComponentResource):
    """Database, cache and storage in `osmo-control-plane`.

    Attributes:
        endpoints: for the control plane, which comes after the Pods.
    """

    endpoints: DataEndpoints

    def __init__(self, name: str, args: InClusterDataArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:InClusterData", name, {}, opts)
        self._name, self._args = name, args
        given, objects, target = args.settings, args.objects, args.target
        postgres, cache = self._random("postgres-password"), self._random("cache-password")
        secrets = [
            self._secret(POSTGRES, {"password": postgres}),
            self._secret(CACHE, {CONFIG_FILE: cache.apply(lambda word: cache_config(given, word))}),
            *self._storage_keys(),
        ]
        first = declare(name, self, target, [objects.account], after=[args.namespace], common="osmo-")
        services = declare(name, self, target, objects.services, after=[args.namespace], common="osmo-")
        snapshots = None
        if objects.snapshots is not None:
            snapshots = VolumeSnapshots(
                f"{name}-snapshots",
                VolumeSnapshotsArgs(target, args.namespace, objects.snapshots),
                pulumi.ResourceOptions(parent=self),
            )
        claims = [self._claim(each, [*([snapshots] if snapshots else [])]) for each in objects.claims]
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
        self.register_outputs({})

    def _random(self, what: str, length: int = PASSWORD_LENGTH) -> pulumi.Output[str]:
        """A text of the present generation."""
        return generated_password(f"{self._name}-{what}-{{}}", length, self._args.settings.key_generation, self._kept())

    def _kept(self) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, protect=True if self._args.protected else None)

    def _storage_keys(self) -> list[pulumi.Resource]:
        """A key for each bucket: for the server, and with the address for OSMO.

        OSMO gives tasks the key of the bucket `data`, which opens no other one.
        """
        ids = {bucket: self._random(f"{bucket}-key-id", KEY_ID_LENGTH) for bucket in BUCKETS}
        keys = {bucket: self._random(f"{bucket}-key", KEY_LENGTH) for bucket in BUCKETS}
        pairs = {bucket: pulumi.Output.all(ids[bucket], keys[bucket]) for bucket in BUCKETS}
        server = pulumi.Output.all(**pairs).apply(_identities)
        return [
            self._secret(STORAGE, {IDENTITIES_FILE: server}),
            *(
                self._secret(credential_secret(bucket), {CREDENTIAL_FILE: _credential(bucket, pair)})
                for bucket, pair in pairs.items()
            ),
        ]

    def _secret(self, secret: str, data: Mapping[str, pulumi.Output[str]]) -> pulumi.Resource:
        return kubernetes.core.v1.Secret(
            f"{self._name}-{secret.removeprefix('osmo-')}",
            metadata={"name": secret, "namespace": CONTROL_NAMESPACE},
            type="Opaque",
            string_data=dict(data),
            opts=self._args.target.options(self, [self._args.namespace]),
        )

    def _claim(self, claim: Mapping[str, Any], after: list[pulumi.Resource]) -> pulumi.Resource:
        """A volume. Another class or source would make another claim, and the data would be lost: Pulumi refuses."""
        options = self._args.target.options(self, [self._args.namespace, *after])
        if self._args.protected:
            options.protect = True
        return kubernetes.core.v1.PersistentVolumeClaim(
            f"{self._name}-{str(claim['metadata']['name']).removeprefix('osmo-')}-volume",
            metadata=claim["metadata"],
            spec=claim["spec"],
            opts=options,
        )


def _identities(pairs: Mapping[str, list[str]]) -> str:
    return identities({bucket: (pair[0], pair[1]) for bucket, pair in pairs.items()})


def _credential(bucket: str, pair: pulumi.Output[list[str]]) -> pulumi.Output[str]:
    return pair.apply(lambda given: credential(bucket, given[0], given[1]))
