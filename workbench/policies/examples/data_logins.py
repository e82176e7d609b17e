"""Examples for the rules on logins of data services, and on protection of their data."""

from __future__ import annotations

from workbench.policies import data_logins as rules
from workbench.policies.examples.model import Example
from workbench.policies.model import Resource

HTTPS = {"minimumTlsVersion": "TLS1_2", "enableHttpsTrafficOnly": True}
NODES = {"startIpAddress": "20.30.40.50", "endIpAddress": "20.30.40.50"}


def _allowed(*names: str) -> Resource:
    return Resource(rules.PARAMETER, "e", {"configurationName": "azure.extensions", "value": ",".join(names)})


EXAMPLES: dict[str, list[Example]] = {
    "database-extensions": [
        Example(
            rules.DATABASE,
            {"databaseName": "osmo"},
            others=(_allowed("HSTORE", "PG_STAT_STATEMENTS", "UUID-OSSP"),),
            bad_others=(_allowed("HSTORE"),),
        ),
        Example(rules.DATABASE, {"databaseName": "another"}, {"databaseName": "osmo"}),
    ],
    "database-backups": [
        Example(
            rules.SERVER,
            {"backup": {"backupRetentionDays": 35}},
            {"backup": {"backupRetentionDays": 7}},
            environment="prod",
        )
    ],
    "cache-one-endpoint": [
        Example(rules.CACHE_DATABASE, {"clusteringPolicy": "EnterpriseCluster"}, {"clusteringPolicy": "OSSCluster"}),
    ],
    "storage-soft-delete": [
        Example(
            rules.BLOB_SERVICE,
            {"deleteRetentionPolicy": {"enabled": True}, "containerDeleteRetentionPolicy": {"enabled": True}},
            {"containerDeleteRetentionPolicy": {"enabled": False}},
        ),
        Example(
            rules.BLOB_SERVICE,
            {"deleteRetentionPolicy": {"enabled": True}, "containerDeleteRetentionPolicy": {"enabled": True}},
            {"deleteRetentionPolicy": None},
        ),
    ],
    "data-tls": [
        Example(rules.ACCOUNT, HTTPS, {"minimumTlsVersion": "TLS1_0"}),
        Example(rules.ACCOUNT, HTTPS, {"enableHttpsTrafficOnly": False}),
        Example(rules.ACCOUNT, HTTPS, {"minimumTlsVersion": None}),
        Example(rules.CACHE, {"minimumTlsVersion": "1.2"}, {"minimumTlsVersion": "1.0"}),
        Example(rules.CACHE_DATABASE, {"clientProtocol": "Encrypted"}, {"clientProtocol": "Plaintext"}),
        Example(rules.PARAMETER, {"configurationName": "require_secure_transport", "value": "on"}, {"value": "off"}),
        Example(
            rules.PARAMETER,
            {"configurationName": "ssl_min_protocol_version", "value": "TLSv1.2"},
            {"value": "TLSv1"},
        ),
    ],
    "storage-shared-key": [
        Example(
            rules.ACCOUNT,
            {"allowSharedKeyAccess": False, "allowBlobPublicAccess": False},
            {"allowSharedKeyAccess": None},
        ),
        Example(
            rules.ACCOUNT,
            {"allowSharedKeyAccess": False, "allowBlobPublicAccess": False},
            {"allowBlobPublicAccess": True},
        ),
    ],
    "vault-rbac": [
        Example(rules.VAULT, {"properties": {"enableRbacAuthorization": True}}, {"properties": {"accessPolicies": []}})
    ],
    "vault-purge-protection": [
        Example(rules.VAULT, {"properties": {"enablePurgeProtection": True}}, {"properties": {}}, environment="prod")
    ],
    "registry-logins": [
        Example(rules.REGISTRY, {"adminUserEnabled": False}, {"adminUserEnabled": True}),
        Example(rules.REGISTRY, {"anonymousPullEnabled": False}, {"anonymousPullEnabled": True}),
    ],
    "database-reach": [
        Example(rules.FIREWALL, NODES, {"startIpAddress": "0.0.0.0", "endIpAddress": "0.0.0.0"}),  # noqa: S104 - no bind
        Example(rules.FIREWALL, NODES, {"endIpAddress": "20.30.50.0"}),
    ],
    "database-standby": [
        Example(
            rules.SERVER,
            {"highAvailability": {"mode": "ZoneRedundant"}},
            {"highAvailability": {"mode": "Disabled"}},
            environment="prod",
        )
    ],
    "vault-secret-retained": [
        Example(
            rules.SECRET,
            {"secretName": "redis-key"},
            options={"retain_on_delete": True},
            bad_options={"retain_on_delete": False},
        )
    ],
}
