"""The cache: Azure Managed Redis."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import redisenterprise

from components.data.common import ENABLED, Place
from physical_ai.catalog.data_services import REDIS_POLICY, REDIS_PORT
from physical_ai.settings.models.data_services import Redis as RedisSettings

DATABASE = "default"
"""The only name that a database of Azure Managed Redis may have."""


@dataclass(frozen=True)
class RedisArgs:
    place: Place
    settings: RedisSettings


class Redis(pulumi.ComponentResource):
    """Azure Managed Redis cluster with one database.

    Attributes:
        host, port, key: parameters of a connection. Only connections with TLS are accepted.
    """

    cluster: redisenterprise.RedisEnterprise
    host: pulumi.Output[str]
    port: int
    key: pulumi.Output[str]

    def __init__(self, name: str, args: RedisArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Redis", name, {}, opts)
        place, child = args.place, pulumi.ResourceOptions(parent=self)
        self.cluster = redisenterprise.RedisEnterprise(
            f"{name}-cluster",
            cluster_name=place.names.redis,
            resource_group_name=place.resource_group_name,
            location=place.location,
            tags=place.tags,
            sku=redisenterprise.SkuArgs(name=args.settings.size),
            high_availability=ENABLED[place.plan.redis_high_availability],
            minimum_tls_version="1.2",
            public_network_access=place.public_access,
            opts=child,
        )
        database = redisenterprise.Database(
            f"{name}-database",
            database_name=DATABASE,
            cluster_name=self.cluster.name,
            resource_group_name=place.resource_group_name,
            client_protocol="Encrypted",
            clustering_policy=REDIS_POLICY,
            eviction_policy="VolatileLRU",
            port=REDIS_PORT,
            # OSMO 6.3 logs in with a key: it has no login by Entra.
            access_keys_authentication="Enabled",
            opts=child,
        )
        keys = redisenterprise.list_database_keys_output(
            cluster_name=self.cluster.name,
            database_name=database.name,
            resource_group_name=place.resource_group_name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        self.host, self.port = self.cluster.host_name, REDIS_PORT
        self.key = pulumi.Output.secret(keys.primary_key if args.settings.key == "primary" else keys.secondary_key)
        self.register_outputs({"host": self.host})
