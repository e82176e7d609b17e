"""The supported release of cert-manager, and the names that depend on it."""

from __future__ import annotations

CHART = "cert-manager"
RELEASE = "cert-manager"
"""Name of the release, its Deployment and its service account (templates/_helpers.tpl)."""
NAMESPACE = "cert-manager"
ACCOUNT = "cert-manager"
GROUP, VERSION = "cert-manager.io", "v1"
API_VERSION = f"{GROUP}/{VERSION}"
ISSUER_KIND = "ClusterIssuer"
ISSUER = "osmo-gateway"
"""Name of the declared issuer, and of the certificate."""
CERTIFICATE = "osmo-gateway"
ACCOUNT_KEY = "osmo-gateway-acme-account"
"""Name of the Secret, in cert-manager's namespace, with the key of the account at the certificate authority;
cert-manager creates it.
"""
LETS_ENCRYPT = "https://acme-v02.api.letsencrypt.org/directory"
