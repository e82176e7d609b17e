"""Rules on access to OSMO's control plane: every access needs a login, and tokens are only sent encrypted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from physical_ai.catalog.osmo import BACKEND_CHART
from physical_ai.catalog.osmo_service import SERVICE_CHART, UNAUTHENTICATED
from physical_ai.findings import Severity
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map

RELEASE = "kubernetes:helm.sh/v3:Release"
INTERNAL = "service.beta.kubernetes.io/azure-load-balancer-internal"
"""Annotation of a Service whose load balancer gets only an address in the cluster's network."""
IN_CLUSTER = (".svc", ".svc.cluster.local")
_CHART = "https://github.com/NVIDIA/OSMO/tree/main/deployments/charts/service"
_ENVOY = "values.gateway.envoy"


def _values(resource: Resource, chart: str) -> dict[str, Any]:
    """The values of a release of this chart; empty for a release of another chart."""
    named = str(known(resource.inputs.get("chart"), ""))
    # An archive that was downloaded is named after its chart and version.
    own = named == chart or named.rpartition("/")[2].startswith(f"{chart}-1")
    return known_map(resource.inputs.get("values")) if own else {}


def gateway_section(resource: Resource) -> tuple[dict[str, Any], dict[str, Any]]:
    """The gateway's section in the values of OSMO's chart, and Envoy's section inside the gateway's section; an empty
    map for a missing section.
    """
    gateway = known_map(_values(resource, SERVICE_CHART).get("gateway"))
    return gateway, known_map(gateway.get("envoy"))


def _is_public(envoy: dict[str, Any]) -> bool:
    service = known_map(envoy.get("service"))
    annotations = known_map(service.get("annotations"))
    return known(service.get("type"), "LoadBalancer") == "LoadBalancer" and known(annotations.get(INTERNAL)) != "true"


def _login(resource: Resource, _: Stack) -> Iterable[Violation]:
    gateway, envoy = gateway_section(resource)
    if not gateway:
        return
    anonymous = known(known_map(envoy.get("defaultIdentity")).get("user"), "")
    if anonymous and _is_public(envoy):
        path = f"{_ENVOY}.defaultIdentity.user"
        yield Violation(path, f"every caller would be {anonymous}: remove it, or make the load balancer internal")
    if not anonymous and known(known_map(gateway.get("authz")).get("enabled"), False) is not True:
        yield Violation("values.gateway.authz.enabled", "write true: without it a valid login may do everything")


def _open_paths(resource: Resource, _: Stack) -> Iterable[Violation]:
    envoy = gateway_section(resource)[1]
    for key in ("skipAuthPaths", "extraSkipAuthPaths"):
        for index, path in enumerate(known_list(envoy.get(key))):
            if path not in UNAUTHENTICATED:
                yield Violation(f"{_ENVOY}.{key}[{index}]", f"remove {path}: it is neither a version nor the login")


def _encrypted(resource: Resource, _: Stack) -> Iterable[Violation]:
    gateway, envoy = gateway_section(resource)
    providers = known_list(known_map(envoy.get("jwt")).get("providers"))
    tls = known(known_map(envoy.get("ssl")).get("enabled"), False)
    if gateway and tls is not True and (providers or _is_public(envoy)):
        yield Violation(f"{_ENVOY}.ssl.enabled", "write true: logins and tokens would go over HTTP")
    url = urlsplit(str(known(known_map(_values(resource, BACKEND_CHART).get("global")).get("serviceUrl"), "")))
    with_token = known(known_map(_values(resource, BACKEND_CHART).get("global")).get("loginMethod")) == "token"
    if with_token and url.scheme == "http" and not (url.hostname or "").endswith(IN_CLUSTER):
        yield Violation("values.global.serviceUrl", "write https://: the agents' token could be read in transit")


def _only_way_in(resource: Resource, _: Stack) -> Iterable[Violation]:
    gateway = gateway_section(resource)[0]
    policies = known_map(gateway.get("networkPolicies"))
    if gateway and known(policies.get("enabled"), False) is not True:
        yield Violation("values.gateway.networkPolicies.enabled", "write true")


def _limited(resource: Resource, _: Stack) -> Iterable[Violation]:
    gateway, envoy = gateway_section(resource)
    for key in ("maxRequests", "maxHeadersSizeKb"):
        if gateway and not known(envoy.get(key), 0):
            yield Violation(f"{_ENVOY}.{key}", "set a limit")


RULES = (
    Rule(
        "gateway-login",
        Severity.ERROR,
        "The services trust the gateway's headers: a caller it admits without a login can claim any identity.",
        _login,
        (RELEASE,),
        topic=Topic.SECURITY,
        link=_CHART,
    ),
    Rule(
        "gateway-open-paths",
        Severity.ERROR,
        "Without a login the gateway serves versions, public keys and the login itself, and nothing else.",
        _open_paths,
        (RELEASE,),
        topic=Topic.SECURITY,
        link=_CHART,
    ),
    Rule(
        "token-over-tls",
        Severity.ERROR,
        "A token that is read in transit can be used until it expires.",
        _encrypted,
        (RELEASE,),
        topic=Topic.SECURITY,
        link="https://www.rfc-editor.org/rfc/rfc6750#section-5.2",
    ),
    Rule(
        "gateway-only-way",
        Severity.ERROR,
        "A Pod that reaches a service past the gateway sends the header with roles itself.",
        _only_way_in,
        (RELEASE,),
        topic=Topic.SECURITY,
        link=_CHART,
    ),
    Rule(
        "gateway-limits",
        Severity.ERROR,
        "Without limits one caller can block the service for all others.",
        _limited,
        (RELEASE,),
        topic=Topic.SECURITY,
        link=_CHART,
    ),
)
