"""Examples for the rules on data services, and on identities that access them."""

from __future__ import annotations

from physical_ai.catalog.azure_identity import TOKEN_AUDIENCE
from workbench.policies.data_services import FEDERATED
from workbench.policies.examples.model import Example
from workbench.policies.model import UNKNOWN

ACCOUNT = "system:serviceaccount:osmo-workflows:osmo-workflow"

EXAMPLES: dict[str, list[Example]] = {
    "private-data-services": [
        Example(
            "azure-native:storage:StorageAccount",
            {"publicNetworkAccess": "Disabled"},
            {"publicNetworkAccess": "Enabled"},
            environment="prod",
        ),
        Example(
            "azure-native:containerregistry:Registry",
            {"publicNetworkAccess": "Disabled"},
            {"publicNetworkAccess": None},
            environment="prod",
        ),
        Example(
            "azure-native:keyvault:Vault",
            {"properties": {"publicNetworkAccess": "Disabled"}},
            {"properties": {}},
            environment="prod",
        ),
        Example(
            "azure-native:dbforpostgresql:Server",
            {"network": {"publicNetworkAccess": "Disabled"}},
            {"network": {"publicNetworkAccess": "Enabled"}},
            environment="prod",
        ),
    ],
    "federated-subject": [
        Example(
            FEDERATED, {"subject": ACCOUNT, "audiences": [TOKEN_AUDIENCE]}, {"subject": "system:serviceaccount:osmo:*"}
        ),
        Example(FEDERATED, {"subject": ACCOUNT}, {"subject": "system:serviceaccount:osmo:default"}),
        Example(FEDERATED, {"subject": "repo:acme/robots:environment:prod"}, {"subject": "repo:acme/robots:*"}),
        Example(FEDERATED, {"subject": "repo:acme@1/robots@2:environment:prod"}, {"subject": "repo:acme@1/robots@2:*"}),
        Example(FEDERATED, {"subject": UNKNOWN, "audiences": [TOKEN_AUDIENCE]}, {"audiences": ["https://example.com"]}),
    ],
}
