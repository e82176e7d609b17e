"""Release of OSMO's control plane: everything that depends on chart `service` 1.3.1 and its images 6.3.1.

Changes in later versions (NVIDIA/OSMO main and #1345, #1356, #1413, read 2026-08-20 and 2026-11-23):

| here | 1.4 (images 6.4) | chart `osmo` |
|---|---|---|
| Secret by `OSMO_MEK_FILE`, `configFile` | Secret `osmo-master-encryption-key` | `secrets.masterEncryptionKey` |
| Secret `agent-token`, created with the API | `services.backendApiTokens` | `compute.backendName` and tokens |
| `services.configs` | the same | `configuration` |
| no migration of the database | `services.migration.enabled: true`, a hook before the upgrade | the same |
| `services.configs.dataset` | removed with the dataset API | – |
| TLS behind the gateway, self-signed (`gateway.tls.enabled`) | issued ones; `jwks_uri` is https | the same |
| ServiceAccount `osmo` | the same | `osmo-api`, `osmo-worker` |
"""

from physical_ai.planning.service_chart.release import (
    OWNED,
    SERVICE_FILE,
    Attached,
    attached,
    mek_file,
    mek_problem,
    redis_password,
    service_chart,
    service_release,
)

__all__ = [
    "OWNED",
    "SERVICE_FILE",
    "Attached",
    "attached",
    "mek_file",
    "mek_problem",
    "redis_password",
    "service_chart",
    "service_release",
]
