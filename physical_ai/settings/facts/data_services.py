"""Facts that follow from the settings of the data services: defaults by environment and region, names, protection.

In production, the defaults survive the loss of a zone and mistakes of people; elsewhere, they are the cheapest
choices.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from physical_ai.catalog import regions
from physical_ai.catalog.data_services import PUBLIC_PORTS, postgres_tier
from physical_ai.catalog.postgres import postgres_regions
from physical_ai.settings.facts.network_access import public_access
from physical_ai.settings.models.data_services import DataServices, HighAvailability, Redundancy
from physical_ai.settings.models.tree import Settings

PRODUCTION = "prod"
DATABASE = "osmo"
ADMINISTRATOR = "osmoadmin"
DEFAULT_SIZE = "Standard_D2ds_v5"
"""Compute size of a database in a region that the catalogue does not know."""
PASSWORD_LENGTH = 32
CONTAINERS = ("data", "logs", "apps")
"""Names of the storage containers for the data of workflows, for their output, and for the apps that users publish."""
POSTGRES_SECRET, REDIS_SECRET = "postgres-password", "redis-key"
"""Names of the vault's secrets with the password of PostgreSQL and the key of the Redis cache."""
DIGITS = 8
"""Number of digits at the end of names that have to be globally unique."""
_UNIQUE = uuid.UUID("6f1a4f0e-5a55-5d3b-8d0c-2f4f5a3e7b11")


@dataclass(frozen=True)
class DataFacts:
    """Settings of the data services, with every default filled in."""

    postgres_size: str
    postgres_tier: str
    high_availability: HighAvailability
    backup_days: int
    geo_backup: bool
    redis_high_availability: bool
    redundancy: Redundancy
    vault_retention_days: int
    purge_protection: bool
    registry_sku: str
    zone_redundant_registry: bool
    public: bool
    """True where the services can be reached from the internet, with a login."""
    protected: bool
    """True where database, storage, vault and generated secrets are protected from deletion."""


def deletion_words(settings: Settings) -> str:
    """Text that `dataServices.deletion` must contain before the data of a production stack can be deleted."""
    return f"delete the data of {settings.stack}"


def data_facts(settings: Settings, given: DataServices) -> DataFacts:
    """Facts about the data services `given`, a parameter because `settings.data_services` may be None."""
    production = settings.environment == PRODUCTION
    region = regions().get(settings.region)
    has_zones = region is not None and bool(region.zones)
    postgres, storage, vault = given.postgres, given.storage, given.vault
    database = postgres_regions().get(settings.region)
    open_zones = has_zones and database is not None and database.zone_redundant == "yes"
    standby: HighAvailability = "zoneRedundant" if open_zones else "sameZone"
    size = postgres.size or (database.default_size if database is not None else DEFAULT_SIZE)
    public = public_access(settings)
    sku = given.registry.sku or ("Premium" if production or not public else "Standard")
    return DataFacts(
        postgres_size=size,
        postgres_tier=postgres_tier(size),
        high_availability=postgres.high_availability or (standby if production else "none"),
        backup_days=postgres.backup_days or (35 if production else 7),
        geo_backup=_given(postgres.geo_backup, production and database is not None and database.geo_backup == "yes"),
        redis_high_availability=_given(given.redis.high_availability, production),
        redundancy=storage.redundancy or ("ZRS" if production and has_zones else "LRS"),
        vault_retention_days=vault.retention_days or (90 if production else 7),
        purge_protection=_given(vault.purge_protection, production),
        registry_sku=sku,
        zone_redundant_registry=sku == "Premium" and production and has_zones,
        public=public,
        protected=data_protected(settings),
    )


def public_ports(settings: Settings) -> tuple[int, ...]:
    """Ports of the data services that can be reached from the internet and accept a password or key alone; empty if no
    port can.
    """
    return PUBLIC_PORTS if managed(settings) is not None and public_access(settings) else ()


def managed(settings: Settings) -> DataServices | None:
    """Settings of the data services if they run in Azure; None in a stack without data services, or with data services
    in its own cluster.
    """
    given = settings.data_services
    return None if given is None or given.is_in_cluster else given


def data_protected(settings: Settings) -> bool:
    """True where the services that store data are protected from deletion."""
    given = settings.data_services
    said = given is not None and given.deletion == deletion_words(settings)
    return settings.protect or (settings.environment == PRODUCTION and not said)


def pulls_from_registry_only(settings: Settings) -> bool:
    """True where Pods may pull images from the stack's registry only."""
    given = managed(settings)
    return given is not None and given.registry.only


def login_server(names: DataNames) -> str:
    """Host name of the registry, in Azure's public cloud (Azure docs, container-registry-intro).

    >>> login_server(DataNames("dev-westus2", "00000000-0000-0000-0000-000000000000"))
    'crdevwestus2e5fc84e4.azurecr.io'
    """
    return f"{names.registry}.azurecr.io"


def _given(value: bool | None, default: bool) -> bool:
    return default if value is None else value


def restore_stamp(at: str) -> str:
    """Digits of a time, for the name of the server or token that is made for a restore to this time.

    >>> restore_stamp("2026-11-20T08:00:00Z")
    '20261120080000'
    """
    return "".join(letter for letter in at if letter.isdigit())


def restore_problem(at: str, backup_days: int, now: datetime) -> str | None:
    """Reason why a database server cannot be restored to the time `at`: the time is in the future, or older than the
    backups. None if it is neither.
    """
    moment = datetime.fromisoformat(at)
    if moment > now:
        return f"{at} is in the future."
    if moment < now - timedelta(days=backup_days):
        return f"{at} is more than {backup_days} days ago, for which backups are kept."
    return None


@dataclass(frozen=True)
class DataNames:
    """Names of the data services, which are globally unique because they are part of public DNS names.

    They depend on stack and subscription only, so a preview knows them, and a stack that is created again has the same
    names. An exception is the vault: Azure keeps a deleted vault, and its name, for days, so each vault gets a fresh
    name.

    >>> DataNames("dev-westus2", "00000000-0000-0000-0000-000000000000").storage
    'stdevwestus2e5fc84e4'
    """

    stack: str
    subscription_id: str

    @property
    def _digits(self) -> str:
        return uuid.uuid5(_UNIQUE, f"{self.subscription_id.lower()}/{self.stack}").hex[:DIGITS]

    @property
    def _flat(self) -> str:
        return self.stack.replace("-", "")

    @property
    def postgres(self) -> str:
        """Name of the PostgreSQL server. ARM allows 63 characters."""
        return f"psql-{self.stack[:49]}-{self._digits}"

    def postgres_restored(self, at: str) -> str:
        """Name of a server with the database as it was at a time such as `2026-11-20T08:00:00Z`."""
        return f"psql-{self.stack[:34]}-{self._digits}-{restore_stamp(at)}"

    @property
    def redis(self) -> str:
        """Name of the Redis cluster. ARM allows 60 characters."""
        return f"redis-{self.stack[:45]}-{self._digits}"

    @property
    def storage(self) -> str:
        """Name of the storage account. ARM allows 24 lowercase letters and digits."""
        return f"st{self._flat[:14]}{self._digits}"

    @property
    def registry(self) -> str:
        """Name of the container registry. ARM allows 50 letters and digits."""
        return f"cr{self._flat[:40]}{self._digits}"

    def vault(self, suffix: str) -> str:
        """Name of a key vault. ARM allows 24 characters, without two hyphens in a row."""
        return f"kv-{self.stack[:12].rstrip('-')}-{suffix}"
