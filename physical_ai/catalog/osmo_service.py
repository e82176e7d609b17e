"""Names that OSMO's control plane uses in chart `service` 1.3.1: its objects, secrets and ports (NVIDIA/OSMO, tag
6.3.1).
"""

from __future__ import annotations

SERVICE_CHART = "service"
SERVICE_RELEASE = "osmo"

GATEWAY = "osmo-gateway"
"""Name of the gateway's Service, through which clients reach all other Services of OSMO's control plane; also the
prefix of the names of the gateway's objects.
"""
API = "osmo-service"
UI, ROUTER, AGENT, LOGGER = "osmo-ui", "osmo-router", "osmo-agent", "osmo-logger"
UPSTREAMS = (API, ROUTER, UI, AGENT, LOGGER)
"""Names of the Services behind the gateway, which are the values of the label `app` of their Pods."""
WORKER, JOB_MONITOR = "osmo-worker", "osmo-delayed-job-monitor"
ENVOY, AUTHZ = f"{GATEWAY}-envoy", f"{GATEWAY}-authz"
SERVICE_ACCOUNT = "osmo"
"""Service account of all Pods of chart `service`. The chart creates the account; it is federated with the control
plane's Azure identity.
"""

POSTGRES_SECRET, POSTGRES_KEY = "db-secret", "db-password"
REDIS_SECRET, REDIS_KEY = "redis-secret", "redis-password"
"""Names of a Secret and its key for the Redis password. With an external database, the chart's Deployments always read
the password there; chart values cannot change the names.
"""
ADMIN_SECRET, ADMIN_KEY = "default-admin-secret", "password"
ADMIN_USER = "admin"
ADMIN_LENGTH = 43
"""Number of characters of the default administrator's password. The service does not start with a password of another
length.
"""
MEK_CONFIG, MEK_FILE, MEK_ID = "mek-config", "mek.yaml", "key1"
"""Names for the master encryption keys (MEK), which encrypt users' credentials in the database: the ConfigMap that the
chart mounts, the file in the ConfigMap, and the id of a key in the file.

This project stores the keys in a Secret instead, because every reader of the cluster can read ConfigMaps.
"""
NO_MEK = "currentMek: none\nmeks: {}\n"
"""Content of `MEK_FILE` in the ConfigMap `MEK_CONFIG`: no keys. A process that reads this file instead of the Secret
does not start, so it cannot encrypt with a key that is not stored.
"""
MEK_SECRET_NAME, MEK_FOLDER = "osmo-mek", "/etc/osmo/mek"
"""Name of the Secret with the master encryption keys, and the folder where Pods mount the Secret."""
MEK_VARIABLE = "OSMO_MEK_FILE"
"""Environment variable with the path of the keys; it takes precedence over the argument `--mek_file`, which the chart
always passes (NVIDIA/OSMO src/utils/static_config.py and src/utils/connectors/postgres.py, read before and after
6.3.1).
"""
MEK_BYTES = 32
OAUTH2_SECRET, OAUTH2_CLIENT_KEY, OAUTH2_COOKIE_KEY = "oauth2-proxy-secrets", "client_secret", "cookie_secret"
COOKIE_LENGTH = 32
"""Length in bytes of the key that encrypts session cookies; 16, 24 and 32 are allowed (oauth2-proxy docs)."""
CONFIG = f"{API}-configs"
"""Name of the ConfigMap with the configuration of OSMO's control plane; chart `service` creates the ConfigMap."""

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
"""Paths that the chart's gateway serves without a login: versions, public keys, and the paths of the login itself,
which return a token only in exchange for another token.
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
"""Actions that the chart's role osmo-user permits on all resources. Actions on workflows are not among them: the role
permits these only in the pool `default`.
"""
