"""Examples for the rules on access to OSMO's control plane."""

from __future__ import annotations

from typing import Any

from workbench.policies.examples.model import Example
from workbench.policies.gateway import INTERNAL, RELEASE

ENTRA = {"issuer": "https://login.microsoftonline.com/tenant/v2.0", "audience": "app"}


def gateway_release(envoy: dict[str, Any] | None = None, **section: Any) -> dict[str, Any]:
    """Inputs of a release of OSMO's chart whose gateway violates no rule unless the given values make it do so."""
    safe = {
        "service": {"type": "LoadBalancer", "annotations": {INTERNAL: "true"}},
        "ssl": {"enabled": True},
        "defaultIdentity": {"user": ""},
        "jwt": {"providers": [ENTRA]},
        "skipAuthPaths": ["/api/version"],
        "maxRequests": 100,
        "maxHeadersSizeKb": 96,
    }
    gateway = {"authz": {"enabled": True}, "networkPolicies": {"enabled": True}, **section}
    return {"chart": "service", "values": {"gateway": {**gateway, "envoy": {**safe, **(envoy or {})}}}}


def _agents(url: str, login: str = "token") -> dict[str, Any]:
    return {"chart": "backend-operator", "values": {"global": {"serviceUrl": url, "loginMethod": login}}}


PUBLIC = {"type": "LoadBalancer"}
ANYBODY = {"user": "admin"}

EXAMPLES: dict[str, list[Example]] = {
    "gateway-login": [
        Example(RELEASE, gateway_release(), gateway_release(authz={"enabled": False})),
        Example(
            RELEASE,
            gateway_release({"defaultIdentity": ANYBODY}, authz={"enabled": False}),
            gateway_release({"defaultIdentity": ANYBODY, "service": PUBLIC}),
        ),
        # A downloaded archive is the same chart.
        Example(
            RELEASE,
            {**gateway_release(), "chart": "/cache/service-1.3.1.tgz"},
            {**gateway_release(authz={}), "chart": "/cache/service-1.3.1.tgz"},
        ),
    ],
    "gateway-open-paths": [
        Example(RELEASE, gateway_release(), gateway_release({"extraSkipAuthPaths": ["/api/workflow"]})),
    ],
    "token-over-tls": [
        Example(RELEASE, gateway_release(), gateway_release({"ssl": {"enabled": False}})),
        Example(
            RELEASE,
            gateway_release({"ssl": {"enabled": False}, "jwt": {"providers": []}}),
            gateway_release({"ssl": {"enabled": False}, "jwt": {"providers": []}, "service": PUBLIC}),
        ),
        Example(RELEASE, _agents("https://osmo.example.com"), _agents("http://osmo.example.com")),
        Example(RELEASE, _agents("http://osmo-gateway.osmo-control-plane.svc"), _agents("http://10.0.0.4")),
    ],
    "gateway-only-way": [
        Example(RELEASE, gateway_release(), gateway_release(networkPolicies={"enabled": False})),
    ],
    "gateway-limits": [
        Example(RELEASE, gateway_release(), gateway_release({"maxRequests": None})),
    ],
}
