"""The managed services of Azure that OSMO's control plane runs on: database, cache, storage, vault, registry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from components.data.common import Place
from components.data.endpoints import DataEndpoints
from components.data.postgres import Postgres, PostgresArgs
from components.data.redis import Redis, RedisArgs
from components.data.registry import Registry, RegistryArgs
from components.data.storage import Storage, StorageArgs
from components.data.vault import Vault, VaultArgs
from components.network.private_link_target import PrivateTarget
from physical_ai.settings.facts.data_services import POSTGRES_SECRET, REDIS_SECRET
from physical_ai.settings.models.data_services import DataServices as DataSettings


@dataclass(frozen=True)
class DataServicesArgs:
    place: Place
    settings: DataSettings
    subscription_id: str
    tenant_id: str
    nat_addresses: Sequence[pulumi.Input[str]]
    kubelet_principal_id: pulumi.Input[str]


class DataServices(pulumi.ComponentResource):
    """The five data services of OSMO's control plane in Azure: database, cache, storage, vault and registry. None of
    them waits for the cluster.

    Attributes:
        private_targets: services that need a private endpoint if the network has no public access.
    """

    postgres: Postgres
    redis: Redis
    storage: Storage
    vault: Vault
    registry: Registry
    private_targets: tuple[PrivateTarget, ...]

    def __init__(self, name: str, args: DataServicesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:DataServices", name, {}, opts)
        given, place, child = args.settings, args.place, pulumi.ResourceOptions(parent=self)
        self.postgres = Postgres(f"{name}-postgres", PostgresArgs(place, given.postgres, args.nat_addresses), child)
        self.redis = Redis(f"{name}-redis", RedisArgs(place, given.redis), child)
        self.storage = Storage(f"{name}-storage", StorageArgs(place, given.storage), child)
        self.vault = Vault(f"{name}-vault", VaultArgs(place, args.tenant_id), child)
        self.registry = Registry(
            f"{name}-images",
            RegistryArgs(place, given.registry, args.subscription_id, args.kubelet_principal_id),
            child,
        )
        self.vault.keep(POSTGRES_SECRET, self.postgres.password)
        self.vault.keep(REDIS_SECRET, self.redis.key)
        self.private_targets = (
            PrivateTarget("database", self.postgres.server.id, "postgresqlServer"),
            PrivateTarget("cache", self.redis.cluster.id, "redisEnterprise"),
            PrivateTarget("storage", self.storage.storage_account.id, "blob"),
            PrivateTarget("vault", self.vault.id, "vault"),
            PrivateTarget("registry", self.registry.id, "registry"),
        )
        self.register_outputs({"vault": self.vault.name})

    def endpoints(self) -> DataEndpoints:
        """Endpoints for a control plane whose Pods have an identity in Azure."""
        storage = self.storage
        return DataEndpoints(
            postgres_host=self.postgres.host,
            postgres_port=self.postgres.port,
            postgres_database=self.postgres.database,
            postgres_user=self.postgres.user,
            postgres_password=self.postgres.password,
            redis_host=self.redis.host,
            redis_port=self.redis.port,
            redis_key=self.redis.key,
            storage={
                use: pulumi.Output.concat("azure://", storage.account, "/", container)
                for use, container in storage.containers.items()
            },
            storage_account=storage.storage_account.id,
            vault=self.vault,
        )
