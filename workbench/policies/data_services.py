"""Rules on services that store data, and on identities that access them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai.catalog.azure_identity import TOKEN_AUDIENCE
from physical_ai.findings import Severity
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map

PUBLIC_ACCESS: Mapping[str, str] = {
    "azure-native:storage:StorageAccount": "publicNetworkAccess",
    "azure-native:containerregistry:Registry": "publicNetworkAccess",
    "azure-native:keyvault:Vault": "properties.publicNetworkAccess",
    "azure-native:dbforpostgresql:Server": "network.publicNetworkAccess",
}
"""Types of services that store data, each with the property that disables its public network access."""
FEDERATED = "azure-native:managedidentity:FederatedIdentityCredential"

_SUBJECT = re.compile(
    r"system:serviceaccount:[a-z0-9-]+:[a-z0-9.-]+|repo:[\w.-]+(@\d+)?/[\w.-]+(@\d+)?:environment:[\w.-]+"
)
"""Exact subject of a federated credential: a service account, or an environment of a GitHub repository. GitHub may add
the ids of owner and repository (GitHub changelog, 2026-04-23).
"""


def _private(resource: Resource, stack: Stack) -> Iterable[Violation]:
    path = PUBLIC_ACCESS[resource.type]
    value: Any = dict(resource.inputs)
    for step in path.split("."):
        value = known_map(value).get(step)
    if stack.is_production and known(value) not in ("Disabled", "SecuredByPerimeter"):
        yield Violation(path, "write Disabled, and use a private endpoint")


def _federated(resource: Resource, _: Stack) -> Iterable[Violation]:
    subject = known(resource.inputs.get("subject"))
    if subject is not None and not _SUBJECT.fullmatch(str(subject)):
        yield Violation("subject", "name one service account, or one environment of one repository")
    elif str(subject).startswith("system:serviceaccount:") and str(subject).endswith(":default"):
        yield Violation("subject", "name an account of its own: every Pod of the namespace without one has this")
    audiences = known_list(resource.inputs.get("audiences"))
    if audiences and audiences != [TOKEN_AUDIENCE]:
        yield Violation("audiences", f"write [{TOKEN_AUDIENCE}]")


RULES = (
    Rule(
        "private-data-services",
        Severity.ERROR,
        "Production data is accessible from private networks only, so that a leaked key is useless elsewhere.",
        _private,
        tuple(PUBLIC_ACCESS),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/private-link/private-endpoint-overview",
    ),
    Rule(
        "federated-subject",
        Severity.ERROR,
        "Every run that matches the subject gets the identity's tokens, and anyone who can push can create a branch.",
        _federated,
        (FEDERATED,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/entra/workload-id/workload-identity-federation",
    ),
)
