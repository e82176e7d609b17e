"""The names with which Pods use an Azure identity (Entra Workload ID docs)."""

from __future__ import annotations

TOKEN_AUDIENCE = "api://AzureADTokenExchange"  # noqa: S105 - a name
IDENTITY_USE_LABEL = "azure.workload.identity/use"
"""On Pods, with the value `true`: AKS gives them the token to exchange."""
IDENTITY_CLIENT_ANNOTATION = "azure.workload.identity/client-id"
"""On service accounts: the identity to exchange the token for."""
