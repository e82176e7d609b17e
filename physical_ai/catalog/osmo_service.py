"""Names of OSMO's control plane in chart `service` 1.3.1: its objects, secrets and ports (NVIDIA/OSMO, tag 6.3.1)."""

from __future__ import annotations

SERVICE_CHART = "service"
SERVICE_RELEASE = "osmo"

GATEWAY = "osmo-gateway"
"""Name of the Service in front of all others, and prefix of the gateway's objects."""
API = "osmo-service"
UI, ROUTER, AGENT, LOGGER = "osmo-ui", "osmo-router", "osmo-agent", "osmo-logger"
UPSTREAMS = (API, ROUTER, UI, AGENT, LOGGER)
"""Names of the Services behind the gateway, which are the values of the label `app` of their Pods."""
WORKER, JOB_MONITOR = "osmo-worker", "osmo-delayed-job-monitor"
ENVOY, AUTHZ = f"{GATEWAY}-envoy", f"{GATEWAY}-authz"
SERVICE_ACCOUNT = "osmo"
"""Service account of all Pods of the chart, which creates it; it is federated with the control plane's own
identity.
"""

POSTGRES_SECRET, POSTGRES_KEY = "db-secret", "db-password"
REDIS_SECRET, REDIS_KEY = "redis-secret", "redis-password"
"""Names of the Secret and its key that the Deployments mount for an external database, whatever the values say."""
ADMIN_SECRET, ADMIN_KEY = "default-admin-secret", "password"
ADMIN_USER = "admin"
ADMIN_LENGTH = 43
"""Characters of the first administrator's password: with any other length the service does not start."""
MEK_CONFIG, MEK_FILE, MEK_ID = "mek-config", "mek.yaml", "key1"
"""Names of the ConfigMap that the chart mounts for the keys which encrypt users' credentials in the database (MEK:
master encryption key), of its file, and of the key in it. Since every reader of the cluster can read ConfigMaps,
the keys are in a Secret, and the ConfigMap contains none.
"""
NO_MEK = "currentMek: none\nmeks: {}\n"
"""Content of the ConfigMap's file: a process that reads it does not start, so it cannot encrypt with a key that is not
stored.
"""
MEK_SECRET_NAME, MEK_FOLDER = "osmo-mek", "/etc/osmo/mek"
"""Name of the Secret with the keys, and the folder where it is mounted."""
MEK_VARIABLE = "OSMO_MEK_FILE"
"""Environment variable with the path of the keys; it takes precedence over the argument `--mek_file`, which the chart
always passes (NVIDIA/OSMO src/utils/static_config.py and src/utils/connectors/postgres.py, read before and after
6.3.1).
"""
MEK_BYTES = 32
OAUTH2_SECRET, OAUTH2_CLIENT_KEY, OAUTH2_COOKIE_KEY = "oauth2-proxy-secrets", "client_secret", "cookie_secret"
COOKIE_LENGTH = 32
"""Bytes of the key of session cookies: 16, 24 or 32 (oauth2-proxy docs)."""
CONFIG = f"{API}-configs"
"""ConfigMap with the service's configuration, which the chart creates."""

UNAUTHENTICATED = (
    "/api/version",
    "/api/auth/login",
    "/api/auth/keys",
    "/api/auth/refresh_token",
    "/api/auth/jwt/refresh_token",
    "/api/auth/jwt/access_token",
    "/api/router/version",
    "/client/version",
)
"""Paths that the chart's gateway serves without a login: versions, public keys, and the login itself, whose paths take
a token and give none without one.
"""

USER_ACTIONS = (
    "app:*",
    "auth:Token",
    "credentials:*",
    "dataset:*",
    "pool:List",
    "profile:Read",
    "profile:Update",
    "resources:Read",
    "user:List",
    "workflow:List",
    "workflow:Read",
)
"""Actions that the chart's role osmo-user permits everywhere; it permits workflows only in the pool `default`."""
