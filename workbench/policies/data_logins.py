"""Rules on logins of data services, and on protection of their data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address
from typing import Any

from physical_ai.catalog.data_services import POSTGRES_EXTENSIONS, REDIS_POLICY
from physical_ai.findings import Severity
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_map

ACCOUNT = "azure-native:storage:StorageAccount"
VAULT = "azure-native:keyvault:Vault"
REGISTRY = "azure-native:containerregistry:Registry"
SERVER = "azure-native:dbforpostgresql:Server"
PARAMETER = "azure-native:dbforpostgresql:Configuration"
FIREWALL = "azure-native:dbforpostgresql:FirewallRule"
CACHE, CACHE_DATABASE = "azure-native:redisenterprise:RedisEnterprise", "azure-native:redisenterprise:Database"
SECRET = "azure-native:keyvault:Secret"  # noqa: S105 - a type token

DATABASE, BLOB_SERVICE = "azure-native:dbforpostgresql:Database", "azure-native:storage:BlobServiceProperties"
OSMO_DATABASE = "osmo"
LEAST_BACKUP_DAYS = 14

WIDEST = 256
"""Largest number of addresses that one firewall rule may open: the 256 addresses of a /24."""
_SAFE: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    ACCOUNT: {"minimumTlsVersion": ("TLS1_2", "TLS1_3"), "enableHttpsTrafficOnly": (True, None)},
    CACHE: {"minimumTlsVersion": ("1.2", "1.3")},
    CACHE_DATABASE: {"clientProtocol": ("Encrypted", None)},
}
"""Values with which a service accepts only encrypted connections, by resource type and property. The value None means
that the property may also be left unset, because its default is safe.
"""
_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "require_secure_transport": ("on",),
    "ssl_min_protocol_version": ("TLSv1.2", "TLSv1.3"),
}


def _tls(resource: Resource, _: Stack) -> Iterable[Violation]:
    if resource.type == PARAMETER:
        name = str(known(resource.inputs.get("configurationName")))
        value = known(resource.inputs.get("value"))
        if name in _PARAMETERS and value is not None and value not in _PARAMETERS[name]:
            yield Violation("value", f"write {_PARAMETERS[name][0]}")
        return
    for path, values in _SAFE[resource.type].items():
        given = resource.inputs.get(path)
        if known(given) == given and given not in values:
            yield Violation(path, f"write {values[0]}")


def _shared_key(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path in ("allowSharedKeyAccess", "allowBlobPublicAccess"):
        given = resource.inputs.get(path)
        if known(given) == given and given is not False:
            yield Violation(path, "write false")


def _vault_rbac(resource: Resource, _: Stack) -> Iterable[Violation]:
    given = resource.inputs.get("properties")
    if known(given) == given and known_map(given).get("enableRbacAuthorization") is not True:
        yield Violation("properties.enableRbacAuthorization", "write true")


def _purge(resource: Resource, stack: Stack) -> Iterable[Violation]:
    given = resource.inputs.get("properties")
    protected = known_map(given).get("enablePurgeProtection")
    if stack.is_production and known(given) == given and protected is not True:
        yield Violation("properties.enablePurgeProtection", "write true")


def _registry_logins(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path in ("adminUserEnabled", "anonymousPullEnabled"):
        if known(resource.inputs.get(path)) is True:
            yield Violation(path, "write false")


def _database_reach(resource: Resource, _: Stack) -> Iterable[Violation]:
    ends = [known(resource.inputs.get(path)) for path in ("startIpAddress", "endIpAddress")]
    if not all(isinstance(each, str) for each in ends):
        return
    first, last = (IPv4Address(str(each)) for each in ends)
    if int(first) == 0:
        yield Violation("startIpAddress", "name the addresses of your nodes; 0.0.0.0 admits every customer of Azure")
    elif int(last) - int(first) >= WIDEST:
        yield Violation("endIpAddress", f"name at most {WIDEST} addresses")


def _standby(resource: Resource, stack: Stack) -> Iterable[Violation]:
    given = known_map(resource.inputs.get("highAvailability"))
    if stack.is_production and known(given.get("mode")) in (None, "Disabled") and "mode" in given:
        yield Violation("highAvailability.mode", "write ZoneRedundant, or SameZone in a region without zones")


def _extensions(resource: Resource, stack: Stack) -> Iterable[Violation]:
    if known(resource.inputs.get("databaseName")) != OSMO_DATABASE:
        return
    for each in stack.of_type(PARAMETER):
        if known(each.inputs.get("configurationName")) == "azure.extensions":
            given = known(each.inputs.get("value"))
            missing = sorted(set(POSTGRES_EXTENSIONS) - set(str(given).upper().split(",")))
            if given is not None and missing:
                yield Violation("", f"add {', '.join(missing)} to the server's parameter azure.extensions")
            return
    yield Violation("", f"set the server's parameter azure.extensions: {','.join(POSTGRES_EXTENSIONS)}")


def _one_endpoint(resource: Resource, _: Stack) -> Iterable[Violation]:
    given = known(resource.inputs.get("clusteringPolicy"), resource.inputs.get("clusteringPolicy"))
    if known(given) == given and given != REDIS_POLICY:
        yield Violation("clusteringPolicy", f"write {REDIS_POLICY}")


def _backups(resource: Resource, stack: Stack) -> Iterable[Violation]:
    given = known_map(resource.inputs.get("backup"))
    days = known(given.get("backupRetentionDays"))
    if stack.is_production and isinstance(days, int) and days < LEAST_BACKUP_DAYS:
        yield Violation("backup.backupRetentionDays", f"keep them for {LEAST_BACKUP_DAYS} days or more")


def _recoverable(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path in ("deleteRetentionPolicy", "containerDeleteRetentionPolicy"):
        given = known_map(resource.inputs.get(path))
        if known(resource.inputs.get(path)) == resource.inputs.get(path) and known(given.get("enabled")) is not True:
            yield Violation(f"{path}.enabled", "write true")


def _retained(resource: Resource, _: Stack) -> Iterable[Violation]:
    if not resource.options.retain_on_delete:
        yield Violation("", "pass retain_on_delete=True; the secret goes with its vault")


RULES = (
    Rule(
        "database-extensions",
        Severity.ERROR,
        "OSMO's service creates these extensions when it first starts, and a server that does not list them refuses.",
        _extensions,
        (DATABASE,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/postgresql/extensions/how-to-allow-extensions",
        needs_whole_stack=True,
    ),
    Rule(
        "database-backups",
        Severity.ERROR,
        "A mistake is often noticed after a week; what is older than the backups cannot be restored.",
        _backups,
        (SERVER,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/postgresql/flexible-server/concepts-backup-restore",
    ),
    Rule(
        "cache-one-endpoint",
        Severity.ERROR,
        "OSMO's client cannot follow the redirections of a cluster, and its jobs would be lost.",
        _one_endpoint,
        (CACHE_DATABASE,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/redis/architecture",
    ),
    Rule(
        "storage-soft-delete",
        Severity.ERROR,
        "Anyone who may write a checkpoint may delete it, also by mistake.",
        _recoverable,
        (BLOB_SERVICE,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/storage/blobs/soft-delete-blob-overview",
    ),
    Rule(
        "data-tls",
        Severity.ERROR,
        "Without TLS, or with an old version of it, passwords and data can be read in transit.",
        _tls,
        (*_SAFE, PARAMETER),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/storage/common/transport-layer-security-configure-minimum-version",
    ),
    Rule(
        "storage-shared-key",
        Severity.ERROR,
        "A shared key opens everything in the account, is not tied to an identity, and is in no sign-in log.",
        _shared_key,
        (ACCOUNT,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/storage/common/shared-key-authorization-prevent",
    ),
    Rule(
        "vault-rbac",
        Severity.ERROR,
        "With access policies, anyone who may change the vault can grant themselves access to every secret.",
        _vault_rbac,
        (VAULT,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/key-vault/general/rbac-guide",
    ),
    Rule(
        "vault-purge-protection",
        Severity.ERROR,
        "Purging a vault destroys the keys of all encrypted data.",
        _purge,
        (VAULT,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview",
    ),
    Rule(
        "registry-logins",
        Severity.ERROR,
        "The administrator's password is shared and may push; anonymous pulls show every image to the internet.",
        _registry_logins,
        (REGISTRY,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/container-registry/container-registry-authentication",
    ),
    Rule(
        "database-reach",
        Severity.ERROR,
        "Whoever reaches the database can try passwords.",
        _database_reach,
        (FIREWALL,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/postgresql/flexible-server/concepts-firewall-rules",
    ),
    Rule(
        "database-standby",
        Severity.WARNING,
        "Without a standby, the failure of one machine stops the control plane until another has started.",
        _standby,
        (SERVER,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/postgresql/flexible-server/concepts-high-availability",
    ),
    Rule(
        "vault-secret-retained",
        Severity.ERROR,
        "ARM deletes no secret: the provider would ask the vault itself, which refuses the deployer.",
        _retained,
        (SECRET,),
        topic=Topic.DECLARATION,
        link="https://www.pulumi.com/registry/packages/azure-native/api-docs/keyvault/secret/",
        needs=("retain_on_delete",),
    ),
)
