"""The database: PostgreSQL Flexible Server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pulumi
from pulumi_azure_native import dbforpostgresql

from components.azure.random_values import generated_password
from components.data.common import ENABLED, Place
from physical_ai.catalog.data_services import POSTGRES_EXTENSIONS, POSTGRES_PORT
from physical_ai.settings.facts.data_services import (
    ADMINISTRATOR,
    DATABASE,
    PASSWORD_LENGTH,
    restore_problem,
    restore_stamp,
)
from physical_ai.settings.models.data_services import Postgres as PostgresSettings
from physical_ai.settings.models.data_services import Restore

MODES = {"none": "Disabled", "sameZone": "SameZone", "zoneRedundant": "ZoneRedundant"}
PARAMETERS = {
    "azure.extensions": ",".join(POSTGRES_EXTENSIONS),
    "require_secure_transport": "on",
    "ssl_min_protocol_version": "TLSv1.2",
}
"""Parameters of the PostgreSQL server: the extensions that may be created, and no connection without TLS."""


@dataclass(frozen=True)
class PostgresArgs:
    place: Place
    settings: PostgresSettings
    client_addresses: Sequence[pulumi.Input[str]]
    """Public addresses of the nodes. A public server refuses connections from all other addresses."""


class Postgres(pulumi.ComponentResource):
    """PostgreSQL server with one database, and the extensions that OSMO creates in it.

    With `restore`, the component also declares a second server, with the database of the first server as it was at a
    point in time. The control plane then connects to the second server. If `restore` names the server of another stack,
    the component declares only the restored server.

    Attributes:
        server: the server that connections go to.
        host, port, database, user, password: parameters of a connection. Only connections with TLS are accepted.
    """

    server: dbforpostgresql.Server
    host: pulumi.Output[str]
    port: int
    database: pulumi.Output[str]
    user: str
    password: pulumi.Output[str]

    def __init__(self, name: str, args: PostgresArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Postgres", name, {}, opts)
        self._args, restore = args, args.settings.restore
        self.password = generated_password(
            f"{name}-password-{{}}", PASSWORD_LENGTH, args.settings.password_generation, args.place.kept(self)
        )
        self.database = pulumi.Output.from_input(DATABASE)
        source = restore.source if restore is not None else None
        first: dbforpostgresql.Server | None = None
        if source is None:
            first = self._first(name)
            self.server, source = first, first.id
        if restore is not None:
            self.server = self._restored(f"{name}-restored-{restore_stamp(restore.at)}", restore, source)
        self.host, self.port = self.server.fully_qualified_domain_name, POSTGRES_PORT
        self.user = ADMINISTRATOR
        self.register_outputs({"host": self.host})

    def _first(self, name: str) -> dbforpostgresql.Server:
        args = self._args
        server = self._server(
            f"{name}-server",
            server_name=args.place.names.postgres,
            high_availability=dbforpostgresql.HighAvailabilityArgs(mode=MODES[args.place.plan.high_availability]),
            administrator_login=ADMINISTRATOR,
        )
        database = dbforpostgresql.Database(
            f"{name}-database",
            database_name=DATABASE,
            server_name=server.name,
            resource_group_name=args.place.resource_group_name,
            charset="UTF8",
            collation="en_US.utf8",
            opts=args.place.kept(self),
        )
        if args.settings.restore is None:
            self.database = database.name
        self._configure(name, server, database, "nodes")
        return server

    def _restored(self, name: str, restore: Restore, source: pulumi.Input[str]) -> dbforpostgresql.Server:
        """Declares a server that Azure restores from a backup of the server `source`, with the database and the login
        of `source`.

        Azure restores no standby server; a standby is created only with `restore.standby`.
        """
        plan = self._args.place.plan
        server = self._server(
            f"{name}-server",
            [pulumi.ResourceHook(f"{name}-time", self._in_time, pulumi.ResourceHookOptions(on_dry_run=True))],
            server_name=self._args.place.names.postgres_restored(restore.at),
            create_mode="PointInTimeRestore",
            source_server_resource_id=source,
            point_in_time_utc=restore.at,
            high_availability=dbforpostgresql.HighAvailabilityArgs(
                mode=MODES[plan.high_availability if restore.standby else "none"]
            ),
        )
        # The firewall rules have other names than those of the source, which Azure may have restored.
        self._configure(name, server, server, "restored-nodes")
        return server

    def _in_time(self, hook: pulumi.ResourceHookArgs) -> None:
        """Fails the deployment if no backup covers the point in time in `restore.at`: the time is older than the
        backups that Azure keeps, or is in the future.

        The hook runs before the server is created, also in previews. Once the server exists, the hook no longer runs,
        so `restore.at` may then be older than all backups.
        """
        restore = self._args.settings.restore
        problem = restore and restore_problem(restore.at, self._args.place.plan.backup_days, datetime.now(UTC))
        if problem:
            raise pulumi.RunError(f"dataServices.postgres.restore.at\n  {problem}")

    def _server(
        self, resource: str, before_create: list[pulumi.ResourceHook] | None = None, **more: Any
    ) -> dbforpostgresql.Server:
        place, plan, settings = self._args.place, self._args.place.plan, self._args.settings
        hooks = pulumi.ResourceHookBinding(before_create=list(before_create)) if before_create else None
        return dbforpostgresql.Server(
            resource,
            **more,
            resource_group_name=place.resource_group_name,
            location=place.location,
            tags=place.tags,
            version=settings.version,
            sku=dbforpostgresql.SkuArgs(name=plan.postgres_size, tier=plan.postgres_tier),
            # Storage that grows automatically would differ from its setting, and can never be made smaller again.
            storage=dbforpostgresql.StorageArgs(storage_size_gb=settings.storage_gb, auto_grow="Disabled"),
            backup=dbforpostgresql.BackupArgs(
                backup_retention_days=plan.backup_days, geo_redundant_backup=ENABLED[plan.geo_backup]
            ),
            network=dbforpostgresql.NetworkArgs(public_network_access=place.public_access),
            auth_config=dbforpostgresql.AuthConfigArgs(
                password_auth="Enabled",  # noqa: S106 - a switch
                active_directory_auth="Disabled",
            ),
            administrator_login_password=self.password,
            opts=pulumi.ResourceOptions.merge(
                place.kept(self),
                # Azure selects the zones, and exchanges them at a failover.
                pulumi.ResourceOptions(
                    ignore_changes=["availabilityZone", "highAvailability.standbyAvailabilityZone"],
                    hooks=hooks,
                ),
            ),
        )

    def _configure(self, name: str, server: dbforpostgresql.Server, first: pulumi.Resource, rules: str) -> None:
        """Declares the server's parameters and firewall rules, one after the other: the server refuses a change while
        another one is in progress.
        """
        args, before = self._args, first
        for parameter, value in PARAMETERS.items():
            before = dbforpostgresql.Configuration(
                f"{name}-{parameter.replace('.', '-').replace('_', '-')}",
                configuration_name=parameter,
                server_name=server.name,
                resource_group_name=args.place.resource_group_name,
                source="user-override",
                value=value,
                opts=pulumi.ResourceOptions(parent=self, depends_on=[before]),
            )
        for number, address in enumerate(args.client_addresses if args.place.plan.public else ()):
            before = dbforpostgresql.FirewallRule(
                f"{name}-nodes-{number}",
                firewall_rule_name=f"{rules}-{number}",
                server_name=server.name,
                resource_group_name=args.place.resource_group_name,
                start_ip_address=address,
                end_ip_address=address,
                opts=pulumi.ResourceOptions(parent=self, depends_on=[before]),
            )
