"""What the gateway asks of a request before it passes it on, by the values of OSMO's chart `service`.

The routes and filters are those of the chart (NVIDIA/OSMO deployments/charts/service, template
_gateway-envoy-config.tpl, read near 1.3.1): the first route that matches gets the request, paths without a login are
prefixes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Json = Mapping[str, Any]
Asked = Literal["nothing", "login", "role"]
LOGIN_PATHS = ("/oauth2/", "/signout")
"""Paths of oauth2-proxy, which are the login of browsers."""
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
    """The gateway's routes in their order."""
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
    """Where the gateway asks for no login."""
    gateway = values["gateway"]
    envoy = gateway["envoy"]
    login = LOGIN_PATHS if gateway["oauth2Proxy"]["enabled"] else ()
    return (*envoy["skipAuthPaths"], *envoy["extraSkipAuthPaths"], *login)


def asked(values: Json, path: str) -> Asked:
    """What a request for a path has to have."""
    gateway = values["gateway"]
    route = next(each for each in routes(values) if each.takes(path))
    checks = bool(gateway["envoy"]["jwt"]["providers"]) and not gateway["envoy"]["defaultIdentity"]["user"]
    if not checks or path.startswith(open_prefixes(values)) or route.without & set(LOGIN_FILTERS):
        return "nothing"
    return "login" if ROLE_FILTER in route.without or not gateway["authz"]["enabled"] else "role"
