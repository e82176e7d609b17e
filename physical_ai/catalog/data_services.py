"""Facts about Azure's data services: editions of PostgreSQL, extensions, upstreams of a caching registry."""

from __future__ import annotations

POSTGRES_TIERS = {"B": "Burstable", "D": "GeneralPurpose", "E": "MemoryOptimized"}
"""Tiers of PostgreSQL servers, by the letter in a compute size's name (PostgreSQL Flexible Server docs,
concepts-compute; from memory, page not opened).
"""
POSTGRES_EXTENSIONS = ("HSTORE", "PG_STAT_STATEMENTS", "UUID-OSSP")
"""Extensions that OSMO's service creates in its database (NVIDIA/OSMO deployments/terraform/azure/example)."""
POSTGRES_PORT = 5432
REDIS_PORT = 10000
"""Port of every Azure Managed Redis database, with TLS only (NVIDIA/OSMO deployments/terraform/azure/example)."""
PUBLIC_PORTS = (POSTGRES_PORT, 6379, 6380, 6432, REDIS_PORT)
"""Ports on which databases and caches listen, including those of Azure Cache for Redis and of a PostgreSQL server's
pooler (Azure docs, azure-cache-for-redis/cache-configure; postgresql/concepts-pgbouncer).
"""
REDIS_POLICY = "EnterpriseCluster"
"""Cluster policy of Azure Managed Redis with one endpoint that behaves like a single server: OSMO's client cannot
follow the redirections of OSSCluster (NVIDIA/OSMO deployments/terraform/azure/example).
"""
UPSTREAMS = (
    "docker.io",
    "mcr.microsoft.com",
    "quay.io",
    "public.ecr.aws",
    "ghcr.io",
    "nvcr.io",
    "registry.k8s.io",
    "gcr.io",
    "eu.gcr.io",
)
"""Registries that an Azure container registry can cache, besides hosts that end with UPSTREAM_SUFFIX.

The service refuses any other host, and lists these in its message (Azure/acr#862, 2025-12-18).
"""
UPSTREAM_SUFFIX = ".pkg.dev"
NEED_LOGIN = frozenset({"docker.io", "registry-1.docker.io"})
"""Upstream registries that an Azure container registry caches only with a login (Azure docs,
container-registry/artifact-cache-overview).
"""


def is_upstream(host: str) -> bool:
    """True for a registry that an Azure container registry can cache.

    >>> is_upstream("europe-docker.pkg.dev"), is_upstream("docker.elastic.co")
    (True, False)
    """
    return host in UPSTREAMS or host in NEED_LOGIN or host.endswith(UPSTREAM_SUFFIX)


def postgres_tier(size: str) -> str:
    """Tier of a PostgreSQL compute size.

    >>> postgres_tier("Standard_D2ds_v5")
    'GeneralPurpose'
    """
    return POSTGRES_TIERS[size.removeprefix("Standard_")[0]]
