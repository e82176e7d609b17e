"""The database: PostgreSQL Flexible Server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import dbforpostgresql

from components.data_common import ENABLED, Place
from components.random_values import generated_password
from physical_ai.catalog.data_services import POSTGRES_EXTENSIONS, POSTGRES_PORT
from physical_ai.settings.facts.data_services import ADMINISTRATOR, DATABASE, PASSWORD_LENGTH
from physical_ai.settings.models.data_services import Postgres as PostgresSettings

MODES = {"none": "Disabled", "sameZone": "SameZone", "zoneRedundant": "ZoneRedundant"}
PARAMETERS = {
    "azure.extensions": ",".join(POSTGRES_EXTENSIONS),
    "require_secure_transport": "on",
    "ssl_min_protocol_version": "TLSv1.2",
}
"""Parameters of the server: extensions that may be created, and no connection without TLS."""


@dataclass(frozen=True)
class PostgresArgs:
    place: Place
    settings: PostgresSettings
    client_addresses: Sequence[pulumi.Input[str]]
    """Public addresses of the nodes, which a public server accepts; all others it refuses."""


class Postgres(pulumi.ComponentResource):
    """A server with one database, and the extensions that OSMO creates in it.

    Attributes:
        host, port, database, user, password: of a connection, which has to use TLS.
    """

    server: dbforpostgresql.Server
    host: pulumi.Output[str]
    port: int
    database: pulumi.Output[str]
    user: str
    password: pulumi.Output[str]

    def __init__(self, name: str, args: PostgresArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Postgres", name, {}, opts)
        place, plan, settings = args.place, args.place.plan, args.settings
        self.password = generated_password(
            f"{name}-password-{{}}", PASSWORD_LENGTH, settings.password_generation, place.kept(self)
        )
        self.server = dbforpostgresql.Server(
            f"{name}-server",
            server_name=place.names.postgres,
            resource_group_name=place.resource_group_name,
            location=place.location,
            tags=place.tags,
            version=settings.version,
            sku=dbforpostgresql.SkuArgs(name=settings.size, tier=plan.postgres_tier),
            # Storage that grows by itself would differ from its setting, and can never be made smaller again.
            storage=dbforpostgresql.StorageArgs(storage_size_gb=settings.storage_gb, auto_grow="Disabled"),
            backup=dbforpostgresql.BackupArgs(
                backup_retention_days=plan.backup_days, geo_redundant_backup=ENABLED[plan.geo_backup]
            ),
            high_availability=dbforpostgresql.HighAvailabilityArgs(mode=MODES[plan.high_availability]),
            network=dbforpostgresql.NetworkArgs(public_network_access=place.public_access),
            auth_config=dbforpostgresql.AuthConfigArgs(
                password_auth="Enabled",  # noqa: S106 - a switch
                active_directory_auth="Disabled",
            ),
            administrator_login=ADMINISTRATOR,
            administrator_login_password=self.password,
            opts=pulumi.ResourceOptions.merge(
                place.kept(self),
                # Azure selects the zones, and exchanges them at a failover.
                pulumi.ResourceOptions(
                    ignore_changes=["availabilityZone", "highAvailability.standbyAvailabilityZone"],
                ),
            ),
        )
        database = dbforpostgresql.Database(
            f"{name}-database",
            database_name=DATABASE,
            server_name=self.server.name,
            resource_group_name=place.resource_group_name,
            charset="UTF8",
            collation="en_US.utf8",
            opts=place.kept(self),
        )
        self._configure(name, args, database)
        self.host, self.port = self.server.fully_qualified_domain_name, POSTGRES_PORT
        self.database, self.user = database.name, ADMINISTRATOR
        self.register_outputs({"host": self.host})

    def _configure(self, name: str, args: PostgresArgs, first: pulumi.Resource) -> None:
        """Parameters and firewall, one after the other: the server refuses a second change during a first one."""
        before = first
        for parameter, value in PARAMETERS.items():
            before = dbforpostgresql.Configuration(
                f"{name}-{parameter.replace('.', '-').replace('_', '-')}",
                configuration_name=parameter,
                server_name=self.server.name,
                resource_group_name=args.place.resource_group_name,
                source="user-override",
                value=value,
                opts=pulumi.ResourceOptions(parent=self, depends_on=[before]),
            )
        for number, address in enumerate(args.client_addresses if args.place.plan.public else ()):
            before = dbforpostgresql.FirewallRule(
                f"{name}-nodes-{number}",
                firewall_rule_name=f"nodes-{number}",
                server_name=self.server.name,
                resource_group_name=args.place.resource_group_name,
                start_ip_address=address,
                end_ip_address=address,
                opts=pulumi.ResourceOptions(parent=self, depends_on=[before]),
            )
