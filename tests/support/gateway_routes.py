"""Model of OSMO's gateway: the login or role that it demands of a request, by the values of the chart `service`.

The routes and filters are those of the chart (NVIDIA/OSMO deployments/charts/service, template
_gateway-envoy-config.tpl, read near 1.3.1): the first route that matches gets the request, and paths that need no login
are given as prefixes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Json = Mapping[str, Any]
Asked = Literal["nothing", "login", "role"]
LOGIN_PATHS = ("/oauth2/", "/signout")
"""Paths of oauth2-proxy. Browsers log in and out through them."""
ROLE_FILTER, LOGIN_FILTERS = "envoy.filters.http.ext_authz", ("envoy.filters.http.jwt_authn", "ext-authz-oauth2-proxy")


@dataclass(frozen=True)
class Route:
    match: Json
    cluster: str
    without: frozenset[str] = frozenset()
    """Filters that the route switches off."""

    def takes(self, path: str) -> bool:
        if "path" in self.match:
            return path == self.match["path"]
        if "safe_regex" in self.match:
            return re.fullmatch(self.match["safe_regex"]["regex"], path) is not None
        return path.startswith(self.match["prefix"])


def routes(values: Json) -> Iterator[Route]:
    """Routes of the gateway, in the order in which it tries them."""
    gateway = values["gateway"]
    envoy, no_roles = gateway["envoy"], frozenset({ROLE_FILTER})
    if gateway["oauth2Proxy"]["enabled"]:
        yield Route({"path": "/signout"}, "redirect", no_roles)
        yield Route({"prefix": "/oauth2/"}, "oauth2-proxy", no_roles)
    yield Route({"prefix": "/api/router"}, "osmo-router")
    yield Route({"prefix": "/api/agent/"}, "osmo-agent")
    yield Route({"prefix": "/api/logger/"}, "osmo-logger")
    for each in (*envoy.get("extraRoutes", ()), *envoy["serviceRoutes"]):
        given: Json = each.get("typed_per_filter_config", {})
        off = frozenset(name for name, config in given.items() if config.get("disabled"))
        yield Route(each["match"], each["route"]["cluster"], off)
    # The user interface needs a login and no role.
    yield Route({"prefix": "/"}, "osmo-ui", no_roles)


def open_prefixes(values: Json) -> tuple[str, ...]:
    """Prefixes of the paths for which the gateway demands no login."""
    gateway = values["gateway"]
    envoy = gateway["envoy"]
    login = LOGIN_PATHS if gateway["oauth2Proxy"]["enabled"] else ()
    return (*envoy["skipAuthPaths"], *envoy["extraSkipAuthPaths"], *login)


def asked(values: Json, path: str) -> Asked:
    """Demand of the gateway on a request for a path: nothing, a login, or a role too."""
    gateway = values["gateway"]
    route = next(each for each in routes(values) if each.takes(path))
    checks = bool(gateway["envoy"]["jwt"]["providers"]) and not gateway["envoy"]["defaultIdentity"]["user"]
    if not checks or path.startswith(open_prefixes(values)) or route.without & set(LOGIN_FILTERS):
        return "nothing"
    return "login" if ROLE_FILTER in route.without or not gateway["authz"]["enabled"] else "role"
