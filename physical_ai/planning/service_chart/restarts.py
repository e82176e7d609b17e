"""Annotations of the control plane's Pods that change with a password or key which the Pods read only when they start.

The chart passes passwords and keys as variables, or in files that are read once. Kubernetes does not restart a Pod
because a Secret has changed.
"""

from __future__ import annotations

from typing import Any

from parts.in_cluster_data.facts import in_cluster
from physical_ai.settings.models.tree import Settings

ADMIN = "physical-ai/admin-password"
COOKIE = "physical-ai/cookie-key"
CERTIFICATE = "physical-ai/certificate"
"""Annotation of the gateway's Pods with the certificate's digest. A renewed certificate restarts the Pods, so the
deployment waits until the new certificate is in use.

Envoy would load a renewed certificate without the annotation, too, but the deployment would not wait: Envoy watches the
folder of the certificate's files (SDS), which kubelet updates when it renews the volume (envoyproxy/envoy
source/common/secret/sds_api.cc; NVIDIA/OSMO _gateway-envoy-config.tpl).
"""
DATABASE = "physical-ai/database-password"
CACHE = "physical-ai/cache-key"
RESTARTED_BY = {
    ADMIN: "osmo.access.adminPasswordGeneration",
    DATABASE: "dataServices.postgres.passwordGeneration, or dataServices.inCluster.keyGeneration",
    CACHE: "dataServices.redis.key",
}
"""Setting behind each annotation: when a user changes the setting, the annotation changes and the services behind the
gateway restart.
"""
PROCESSES = ("service", "worker", "logger", "agent", "delayedJobMonitor", "router")
"""Sections of the services whose Pods log in to database and cache."""


def restarts(settings: Settings) -> dict[str, Any]:
    """Values with the annotations, to be merged into the release's values.

    The first generation of a password or key has no annotation, because no Pod can have read an older one.
    """
    access, data = settings.osmo.access, settings.data_services
    stored: dict[str, str] = {}
    if data is not None and data.postgres.password_generation > 1:
        stored[DATABASE] = str(data.postgres.password_generation)
    # All passwords and keys of data services in the cluster are replaced together.
    if (inside := in_cluster(settings)) is not None and inside.key_generation > 1:
        stored[DATABASE] = str(inside.key_generation)
    # The service that looks up roles logs in to the database, and not to the cache.
    roles = dict(stored)
    if data is not None and data.redis.key != "primary":
        stored[CACHE] = data.redis.key
    pods = {name: dict(stored) for name in PROCESSES}
    if access.admin_password_generation > 1:
        # When the service starts, it writes the administrator's password into the database (NVIDIA/OSMO
        # src/service/core/service.py, setup_default_admin, commit 02a73a6); from then on, the previous password is
        # refused.
        pods["service"][ADMIN] = str(access.admin_password_generation)
    gateway = {"authz": roles}
    if access.cookie_key_generation > 1:
        gateway["oauth2Proxy"] = {COOKIE: str(access.cookie_key_generation)}
    return {"services": _annotated(pods), "gateway": _annotated(gateway)}


def _annotated(pods: dict[str, dict[str, str]]) -> dict[str, Any]:
    return {name: {"extraPodAnnotations": annotations} for name, annotations in pods.items() if annotations}
