"""Names that cert-manager gives to objects and reads from them, copied from its source separately from the deployed
code.

Source: cert-manager/cert-manager v1.21.1, deploy/charts/cert-manager/templates/_helpers.tpl and
pkg/apis/certmanager/v1/register.go; read 2026-11-28.
"""

from __future__ import annotations

CHART = "cert-manager"
"""Name of the chart, which its Pods have as app.kubernetes.io/name."""
NAMESPACE = "cert-manager"
ACCOUNT = "cert-manager"
"""Service account of the controller, named like the release."""
API_VERSION = "cert-manager.io/v1"
