"""Facts that follow from the settings `osmo.access`: addresses of OSMO's control plane, and the secrets that it
needs.
"""

from __future__ import annotations

from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.catalog.osmo_service import GATEWAY
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings

OIDC_SECRET = "osmoOidcClientSecret"  # noqa: S105 - a name
"""Name of the stack's secret with the client secret of the app registration through which users log in."""
TLS_CERTIFICATE, TLS_KEY = "osmoTlsCertificate", "osmoTlsKey"
"""Names of the stack's secrets with the gateway's certificate and its key."""
MEK_SECRET = "osmoMek"  # noqa: S105 - a name
"""Name of the stack's secret with a master encryption key to restore: the file `mek.yaml` of a backup."""

ACCESS: Path = ("osmo", "access")


def control_plane_url(settings: Settings) -> str | None:
    """Address of the control plane that the stack's agents work for; None if the stack installs no control plane, and
    `osmo.serviceUrl` is not set.
    """
    osmo = settings.osmo
    if not osmo.installs_service:
        return osmo.service_url
    if osmo.access.host is None:
        return f"http://{GATEWAY}.{CONTROL_NAMESPACE}.svc.cluster.local"
    return f"{'http' if osmo.access.tls is None else 'https'}://{osmo.access.host}"


def router_address(settings: Settings) -> str | None:
    """Address for the commands `osmo workflow exec`, `port-forward` and `webserver`: WebSockets through the gateway to
    OSMO's router, where tasks and users' commands meet. None without a control plane.

    The address has to be configured, because OSMO fills it in itself only if it keeps its configuration in the
    database, not if it reads a file (NVIDIA/OSMO 6.3.1 src/service/agent/helpers.py, create_backend;
    src/utils/connectors/postgres.py, Backend._fetch_from_snapshot).
    """
    url = control_plane_url(settings)
    return None if url is None else f"ws{url.removeprefix('http').rstrip('/')}"


def installs_cert_manager(settings: Settings) -> bool:
    """True where the deployment installs cert-manager, which only issues the gateway's certificate."""
    access = settings.osmo.access
    issued = access.tls is not None and access.tls.cert_manager is not None
    return settings.osmo.installs_service and issued and access.host is not None


def login_groups(settings: Settings) -> frozenset[str]:
    """Object ids of all Entra groups that may log in."""
    return frozenset(group for groups in settings.osmo.access.roles.values() for group in groups)


def service_secrets(settings: Settings) -> list[tuple[Path, str]]:
    """Secrets that the stack must have for its control plane: the setting that needs each, and the secret's name."""
    if not settings.osmo.installs_service:
        return []
    access = settings.osmo.access
    needed: list[tuple[Path, str]] = []
    if access.login == "entra":
        needed.append(((*ACCESS, "login"), OIDC_SECRET))
    if access.tls is not None and access.tls.source == "stack":
        needed += [((*ACCESS, "tls"), TLS_CERTIFICATE), ((*ACCESS, "tls"), TLS_KEY)]
    data = settings.data_services
    if data is not None and data.postgres.restore is not None and data.postgres.restore.source is not None:
        # The restored database is encrypted with the key of its previous stack.
        needed.append((("dataServices", "postgres", "restore", "source"), MEK_SECRET))
    return needed
