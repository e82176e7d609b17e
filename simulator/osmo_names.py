"""Names and limits that OSMO uses. This module repeats them from OSMO's source and imports nothing from the deployed
code.

Source: NVIDIA/OSMO tag 6.3.1: deployments/charts/service (chart 1.3.1) values.yaml and templates,
deployments/charts/backend-operator values.yaml and templates/_helpers.tpl,
src/utils/job/{task,kb_objects,kb_methods}.py, src/utils/metrics/metrics.py, src/utils/connectors/postgres.py,
src/utils/secret_manager/secret_manager.py, src/service/core/service.py (setup_default_admin); read 2026-11-28.
Namespaces and the release's name are this platform's: whoever installs OSMO chooses them.
"""

from __future__ import annotations

CONTROL_NAMESPACE, OPERATOR_NAMESPACE, WORKFLOWS_NAMESPACE = "osmo-control-plane", "osmo-operator", "osmo-workflows"
"""Namespaces of the control plane, of its agents and of workflows."""
BACKEND_RELEASE = "osmo-operator"
"""Name of the agents' Helm release. The chart puts the name before the names of its objects."""
LISTENER_ACCOUNT, WORKER_ACCOUNT = f"{BACKEND_RELEASE}-backend-listener", f"{BACKEND_RELEASE}-backend-worker"
"""ServiceAccounts of the two agents."""
TOKEN_SECRET, TOKEN_KEY = "agent-token", "token"
"""Name of the Secret with the agents' login, and the key of the login in the Secret. The chart mounts the Secret but
does not create it.
"""

API, AGENT, WORKER, JOB_MONITOR = "osmo-service", "osmo-agent", "osmo-worker", "osmo-delayed-job-monitor"
"""Names of the control plane's Deployments (`serviceName` of each in the chart's values)."""
CONFIG = f"{API}-configs"
"""ConfigMap with the configuration of the service."""
ADMIN_SECRET, ADMIN_KEY, ADMIN_LENGTH = "default-admin-secret", "password", 43
"""Name of the Secret with the default administrator's password, the key of the password in the Secret, and the required
length of the password. The service does not start if the password has another length; `secrets.token_urlsafe(32)` gives
that length.
"""
OAUTH2_SECRET, OAUTH2_COOKIE_KEY = "oauth2-proxy-secrets", "cookie_secret"
"""Name of the Secret for the gateway's login, and its key with the secret that signs cookies."""
MEK_FILE, MEK_VARIABLE, MEK_BYTES = "mek.yaml", "OSMO_MEK_FILE", 32
"""Name of the file with the keys that encrypt credentials, the environment variable with the file's path, and the
length of a symmetric key in bytes.
"""
USER_ACTIONS = (
    *("app:*", "auth:Token", "credentials:*", "dataset:*", "pool:List", "profile:Read", "profile:Update"),
    *("resources:Read", "user:List", "workflow:List", "workflow:Read"),
)
"""Actions that the chart's role osmo-user allows on every resource."""

FINALIZER = "osmo.nvidia.com/cleanup"
"""Finalizer of a workflow's Pods, which the agents remove."""
WORKFLOW_LABEL, TASK_LABEL = "osmo.workflow_id", "osmo.task_name"
CONTROL_CONTAINER = "osmo-ctrl"
"""Name of the container that OSMO adds to the Pod of a task."""

METRICS_PORT = 9464
METRICS_ENVIRONMENT = {"METRICS_OTEL_ENABLE": "true"}
"""Environment variables that switch on the metrics of OSMO's processes."""
