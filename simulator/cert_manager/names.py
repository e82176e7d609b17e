"""Names that cert-manager gives to objects and reads from them, copied from its source separately from the deployed
code.

Source: cert-manager/cert-manager v1.21.1, deploy/charts/cert-manager/templates/_helpers.tpl and
pkg/apis/certmanager/v1/register.go; read 2026-11-28.
"""

from __future__ import annotations

CHART = "cert-manager"
"""Name of cert-manager's chart, and value of the label app.kubernetes.io/name of the chart's Pods."""
NAMESPACE = "cert-manager"
ACCOUNT = "cert-manager"
"""Service account of the controller, named like the release."""
API_VERSION = "cert-manager.io/v1"
