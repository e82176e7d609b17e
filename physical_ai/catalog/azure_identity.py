"""Label and annotation with which Pods use an Azure identity (Entra Workload ID docs)."""

from __future__ import annotations

TOKEN_AUDIENCE = "api://AzureADTokenExchange"  # noqa: S105 - a name
IDENTITY_USE_LABEL = "azure.workload.identity/use"
"""Label of Pods that use an Azure identity. With the value `true`, Pods get a service account token that they can
exchange for a token of the identity.
"""
IDENTITY_CLIENT_ANNOTATION = "azure.workload.identity/client-id"
"""Annotation of service accounts with the client id of their identity."""
