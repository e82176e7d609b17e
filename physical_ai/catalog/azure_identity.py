"""The names with which Pods use an Azure identity (Entra Workload ID docs)."""

from __future__ import annotations

TOKEN_AUDIENCE = "api://AzureADTokenExchange"  # noqa: S105 - a name
IDENTITY_USE_LABEL = "azure.workload.identity/use"
"""Label of Pods that get the token to exchange from AKS, with the value `true`."""
IDENTITY_CLIENT_ANNOTATION = "azure.workload.identity/client-id"
"""Annotation of service accounts with the identity to exchange the token for."""
