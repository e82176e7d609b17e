"""Rules about chart values that make a part of the platform reachable from outside of the cluster. The rules recognize
such values in any chart, by the names of keys and the kinds of objects.

>>> [finding.where for finding in judge_exposure({"grafana": {"service": {"type": "LoadBalancer"}}})]
['grafana.service.type']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from physical_ai.findings import Finding, Severity
from physical_ai.nested import is_mapping, mappings

RULE = "chart-value-exposed"
INTERNAL = "service.beta.kubernetes.io/azure-load-balancer-internal"
SERVICES = "Kubernetes docs, Service, Publishing Services; AKS docs, Internal load balancer"
INGRESSES = "Kubernetes docs, Ingress and Gateway API, which know no login of their own"
HOSTS = "Kubernetes docs, Network Policies, hostNetwork pods"
_EVERYONE = ("0.0.0.0/0", "::/0")
_OWN_LOGIN = ("grafana",)
"""Subcharts whose program has a login of its own."""
_TYPE = re.compile(r"(?i)type$")
_ANNOTATIONS = re.compile(r"(?i)annotations$")
_ROUTE = re.compile(r"(?i)(^|[a-z])(ingress(es)?|(http|grpc|tls|tcp)?routes?|listenerset)(perreplica)?$")
_ENABLES = re.compile(r"(?i)^(enable(d?)(ingress|nodeport|loadbalancer)s?|expose(d|publicly)?)$")
_ROUTE_KINDS = ("Ingress", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "Gateway")
_WRITTEN = re.compile(
    r"""(?mi)^[\s-]*(?:type:\s*["']?(LoadBalancer|NodePort)|kind:\s*["']?(Ingress|\w+Route|Gateway))\b"""
)
_HOST_NETWORK = re.compile(r"(?i)^(use)?hostnetwork(ing)?$")


def judge_exposure(values: Mapping[str, Any]) -> Iterator[Finding]:
    """Findings about values that give a Service, a route or a Pod an address outside of the cluster, in the order of
    `values`.

    An address that nothing restricts to a network or a login is an error; an address that is restricted is a warning.
    """
    yield from _map(values, ())


def exposing(path: str, value: Any) -> str | None:
    """Advice about a value that exposes something outside of the cluster; None for any other value. The value is judged
    alone, without its neighbours in the file.
    """
    *above, key = path.split(".")
    found = next(_value({key: value}, key, value, tuple(above)), None)
    return found.fix if found is not None and found.is_error else None


def _map(values: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Finding]:
    for key, value in values.items():
        yield from _value(values, key, value, path)
        if is_mapping(value):
            here = (*path, key)
            yield from _object(".".join(here), value) if "kind" in value else _map(_joined(value), here)


def _value(around: Mapping[str, Any], key: str, value: Any, above: tuple[str, ...]) -> Iterator[Finding]:
    where = ".".join((*above, key))
    if _TYPE.search(key) and value in ("LoadBalancer", "NodePort"):
        yield _service(where, str(value), around)
    elif key == "externalIPs" and value:
        yield _error(where, "the Service answers at these addresses, without a login.", "Leave it out.", SERVICES)
    elif value is True and _is_route(key, above):
        yield _route(where, around)
    elif value is True and _HOST_NETWORK.match(key):
        yield _warning(
            where,
            "the Pods listen at the addresses of their nodes, and no NetworkPolicy holds for them.",
            "Leave it out, unless the API server or a node could not reach them otherwise.",
            HOSTS,
        )
    elif key == "hostPort" and value:
        yield _warning(where, "the port is open at the address of each node of the Pods.", "Leave it out.", HOSTS)
    elif isinstance(value, list):
        yield from _entries(where, cast("list[Any]", value))
    elif isinstance(value, str) and "\n" in value:
        yield from _text(where, value)


def _is_route(key: str, above: tuple[str, ...]) -> bool:
    """True for a switch that creates an Ingress or a route, such as `ingress.enabled` and `route.main.enabled`."""
    if _ENABLES.match(key):
        return True
    named = [bool(_ROUTE.search(step)) for step in above[-2:]]
    # In `route`, each key is a route; in an ingress, a nested section is an option of the ingress.
    return key in ("enabled", "enable") and bool(named) and (named[-1] or (named[0] and "oute" in above[-2:][0]))


def _entries(where: str, entries: list[Any]) -> Iterator[Finding]:
    """Findings about the entries of a list (objects, ports, containers). The findings name the list's path `where`, not
    the entry.
    """
    for each in mappings(entries):
        yield from _object(where, each)
    for text in entries:
        if isinstance(text, str) and "\n" in text:
            yield from _text(where, text)


def _object(where: str, item: Mapping[str, Any]) -> Iterator[Finding]:
    if item.get("kind") in _ROUTE_KINDS:
        yield _route(where, _metadata(item))
    else:
        yield from (replace(found, where=where) for found in _map(_joined(item), ()))


def _metadata(item: Mapping[str, Any]) -> Mapping[str, Any]:
    found = item.get("metadata")
    return found if is_mapping(found) else {}


def _joined(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns `item` with its metadata's annotations copied into its spec, because most charts have values for
    annotations beside the values for the spec. An item without such annotations is returned unchanged.
    """
    spec, metadata = item.get("spec"), _metadata(item)
    if not is_mapping(spec) or "annotations" not in metadata:
        return item
    return {**item, "spec": {**spec, "annotations": metadata["annotations"]}}


def _text(where: str, text: str) -> Iterator[Finding]:
    """Findings about a template that is written as text, of which only single lines can be judged."""
    for found in _WRITTEN.finditer(text):
        beside = {"annotations": {INTERNAL: "true"}} if re.search(rf'{re.escape(INTERNAL)}:\s*"true"', text) else {}
        yield _service(where, found[1], beside) if found[1] else _route(where, {})


def _service(where: str, kind: str, around: Mapping[str, Any]) -> Finding:
    if kind == "NodePort":
        problem = "the Service is reachable at a port of every node, from every network that reaches the nodes."
        return _warning(where, problem, "Write ClusterIP, and use kubectl port-forward.", SERVICES)
    ranges = around.get("loadBalancerSourceRanges")
    listed = cast("list[Any]", ranges) if isinstance(ranges, list) else []
    limited = bool(listed) and not any(each in _EVERYONE for each in listed)
    if str(_annotations(around).get(INTERNAL, "")).lower() == "true" or limited:
        problem = "networks outside of the cluster reach the Service, and what it serves may ask for no login."
        return _warning(where, problem, "Write ClusterIP, and use kubectl port-forward.", SERVICES)
    return _error(
        where,
        "the Service gets an address of its own: on Azure a public one, which all of the internet reaches.",
        f'Write ClusterIP, and use kubectl port-forward; or add the annotation {INTERNAL}: "true" beside it, or'
        " loadBalancerSourceRanges.",
        SERVICES,
    )


def _route(where: str, around: Mapping[str, Any]) -> Finding:
    if any("auth" in key.lower() for key in _annotations(around)) or where.partition(".")[0] in _OWN_LOGIN:
        problem = "the service is reachable through the cluster's ingress, behind its login alone."
        return _warning(where, problem, "Leave it out, and use kubectl port-forward.", INGRESSES)
    return _error(
        where,
        "the service is reachable through the cluster's ingress, without a login.",
        "Leave it out, and use kubectl port-forward; or add the annotations with which your ingress controller asks for"
        " a login, such as nginx.ingress.kubernetes.io/auth-url.",
        INGRESSES,
    )


def _annotations(around: Mapping[str, Any]) -> dict[str, Any]:
    """Annotations in the section `around`: the entries of all its maps whose key contains the word annotations, such as
    `serviceAnnotations`.
    """
    sections = (value for key, value in around.items() if _ANNOTATIONS.search(key) and is_mapping(value))
    return {name: value for each in sections for name, value in each.items() if value}


def _error(where: str, costs: str, fix: str, source: str) -> Finding:
    return Finding(Severity.ERROR, RULE, where, f"With this value, {costs}", fix, source)


def _warning(where: str, costs: str, fix: str, source: str) -> Finding:
    return Finding(Severity.WARNING, RULE, where, f"With this value, {costs}", fix, source)
