"""Label and annotation with which Pods use an Azure identity (Entra Workload ID docs)."""

from __future__ import annotations

TOKEN_AUDIENCE = "api://AzureADTokenExchange"  # noqa: S105 - a name
IDENTITY_USE_LABEL = "azure.workload.identity/use"
"""Label of Pods that get a token from AKS which they can exchange for a token of their Azure identity. Its value is
`true`.
"""
IDENTITY_CLIENT_ANNOTATION = "azure.workload.identity/client-id"
"""Annotation of service accounts with the client id of their identity."""
