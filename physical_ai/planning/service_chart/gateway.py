"""Values of the gateway: Envoy in front of all services, with the login, the limits and the certificate."""

from __future__ import annotations

from typing import Any

from physical_ai.catalog import osmo_service as names
from physical_ai.planning.gateway_certificate import mounted
from physical_ai.planning.service_chart.limits import limited
from physical_ai.settings.facts.gateway_dns import balancer_annotations
from physical_ai.settings.models.osmo_access import EntraLogin, GatewayLimits, OsmoAccess
from physical_ai.settings.models.tree import Settings

ENTRA = "login.microsoftonline.com"
DEV_IDENTITY = {"user": names.ADMIN_USER, "roles": "osmo-admin,osmo-user,osmo-backend,osmo-ctrl", "allowedPools": ""}


def gateway_values(settings: Settings, placement: dict[str, Any]) -> dict[str, Any]:
    """Section `gateway` of the chart's values."""
    access = settings.osmo.access
    return {
        "enabled": True,
        "name": names.GATEWAY,
        "envoy": {**placement, **_envoy(settings), **mounted(access.tls)},
        "oauth2Proxy": {**placement, **_oauth2_proxy(access)},
        # The authorization service reads the roles from the service's configuration; without it, every valid login may
        # do everything.
        "authz": {**placement, "enabled": access.login == "entra"},
        # The chart's rate limit service cannot log in to a Redis, and always uses TLS: `tlsEnabled | default true`.
        # `service_chart/limits.py` has a limit that each gateway Pod applies on its own.
        "rateLimit": {"enabled": False},
        # The services trust the header x-osmo-roles of any client that reaches them, so only the gateway may.
        "networkPolicies": {"enabled": True, "upstreams": [_upstream(name) for name in names.UPSTREAMS]},
    }


def _upstream(name: str) -> dict[str, Any]:
    return {"name": name, "podSelector": {"app": name}, "port": 8000}


def _envoy(settings: Settings) -> dict[str, Any]:
    access, limits = settings.osmo.access, settings.osmo.access.limits
    service: dict[str, Any] = {"type": "LoadBalancer"}
    if annotations := balancer_annotations(settings):
        service["annotations"] = annotations
    if access.tls is not None:
        service["httpsPort"] = 443
    return {
        "hostname": access.host or "",
        "service": service,
        "ssl": {"enabled": access.tls is not None, "secretName": access.tls.secret_name if access.tls else ""},
        "maxRequests": limits.concurrent_requests,
        "maxHeadersSizeKb": limits.header_kibibytes,
        "serviceRoutes": service_routes(limits),
        "skipAuthPaths": list(names.UNAUTHENTICATED),
        "extraSkipAuthPaths": [],
        "internalJwks": {"enabled": True, "cluster": "osmo-service-jwks", "host": names.API, "port": 80},
        "idp": {"host": ENTRA if access.login == "entra" else ""},
        "defaultIdentity": DEV_IDENTITY if access.login == "dev" else {"user": "", "roles": "", "allowedPools": ""},
        "jwt": {"user_header": "x-osmo-user", "providers": _providers(access.entra) if access.entra else []},
    }


def _providers(entra: EntraLogin) -> list[dict[str, Any]]:
    """Issuers of the tokens that the gateway accepts: Entra for people, OSMO itself for agents and workflows."""
    tenant = f"https://{ENTRA}/{entra.tenant_id}"
    return [
        {
            "issuer": f"{tenant}/v2.0",
            "audience": entra.client_id,
            "jwks_uri": f"{tenant}/discovery/v2.0/keys",
            "user_claim": "preferred_username",
            "cluster": "idp",
        },
        {
            "issuer": "osmo",
            "audience": "osmo",
            "jwks_uri": f"http://{names.API}/api/auth/keys",
            "user_claim": "unique_name",
            "cluster": "osmo-service-jwks",
        },
    ]


def _oauth2_proxy(access: OsmoAccess) -> dict[str, Any]:
    """Values of the browser login.

    Sessions are kept in cookies, because the chart has no value for the password of a Redis.
    """
    if access.login == "dev" or access.entra is None:
        return {"enabled": False}
    return {
        "enabled": True,
        "provider": "oidc",
        "oidcIssuerUrl": f"https://{ENTRA}/{access.entra.tenant_id}/v2.0",
        "clientId": access.entra.client_id,
        "cookieSecure": True,
        # Without offline_access Entra gives no refresh token, and people would log in again at each cookieRefresh.
        "scope": "openid email profile offline_access",
        "redisSessionStore": False,
        "useKubernetesSecrets": True,
        "secretName": names.OAUTH2_SECRET,
        "clientSecretKey": names.OAUTH2_CLIENT_KEY,
        "cookieSecretKey": names.OAUTH2_COOKIE_KEY,
    }


def service_routes(limits: GatewayLimits) -> list[dict[str, Any]]:
    """Routes to the API with limits, in place of the chart's own routes.

    A body of unknown length is refused. Streams (WebSockets to router, agents and logger) have other routes.
    """
    limit = limited(limits)

    def route(match: dict[str, Any], timeout: str, **more: str) -> dict[str, Any]:
        to = {"cluster": names.API, "timeout": timeout, **more}
        return {"match": match, "route": to, "typed_per_filter_config": limit}

    streams = {"safe_regex": {"regex": "^/api/workflow/.+/(logs|events|error_logs)$"}}
    return [
        route(streams, "0s", idle_timeout="60s"),
        route({"prefix": "/api/"}, "60s"),
        route({"prefix": "/client/"}, "60s"),
    ]
