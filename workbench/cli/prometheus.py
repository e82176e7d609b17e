"""Queries to a Prometheus, or to a service with the same HTTP interface."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

import urllib3

from physical_ai.nested import at, is_mapping
from physical_ai.servers.bounds import Bounds
from physical_ai.servers.deadline import bounded
from physical_ai.servers.documents import NotADocument, decoded
from physical_ai.servers.exchange import NoAnswer, Request, exchange
from physical_ai.telemetry.usage import Sample

TOKEN = "PROMETHEUS_TOKEN"  # noqa: S105 - a name
BOUNDS = Bounds(seconds=60, idle=60)
"""Limits on one query. They are wide, because a query over weeks takes a while before its first byte."""


DEFAULT = "http://127.0.0.1:9090"
"""Address at which a cluster's Prometheus answers through `kubectl port-forward`."""


def simulated_address(stack: str) -> str | None:
    """Address of a simulated stack's Prometheus; None if none is running."""
    from simulator.simulation import Simulation

    telemetry = Simulation(stack).telemetry
    return telemetry.prometheus if telemetry.is_running() else None


class PrometheusFailed(Exception):
    """Error if Prometheus does not answer a query; the text has the reason and the fix."""


def ask(address: str, queries: Mapping[str, str]) -> dict[str, list[Sample]]:
    """The results of instant queries, by the names of the queries.

    Raises:
        PrometheusFailed: Prometheus does not answer; the text has the address, the reason, and what to write.
    """
    token = os.environ.get(TOKEN)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    # Requests go directly to the address, not through proxies that the environment names.
    pools = bounded(urllib3.PoolManager(ssl_context=ssl.create_default_context()))
    with pools:
        return {name: _ask(pools, headers, address, query) for name, query in queries.items()}


def firing(address: str) -> list[Mapping[str, Any]]:
    """The firing alerts, with the annotations of their rules. The time series of alerts lack these annotations.

    Raises:
        PrometheusFailed: as in `listed_alerts`.
    """
    return [each for each in listed_alerts(address) if each.get("state") == "firing"]


def listed_alerts(address: str) -> list[Mapping[str, Any]]:
    """The pending and firing alerts, with the annotations of their rules.

    Raises:
        PrometheusFailed: the address does not answer, or serves only queries, as an Azure Monitor workspace does.
    """
    token = os.environ.get(TOKEN)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = Request("GET", f"{address.rstrip('/')}/api/v1/alerts", headers)
    with bounded(urllib3.PoolManager(ssl_context=ssl.create_default_context())) as pools:
        try:
            document = decoded(exchange(pools, request, BOUNDS).body)
        except (NoAnswer, NotADocument) as problem:
            raise PrometheusFailed(f"{address} lists no alerts: {problem}") from None
    found = at(document, "data.alerts")
    if not isinstance(found, list):
        raise PrometheusFailed(f"{address} lists no alerts")
    return [each for each in cast("list[Any]", found) if is_mapping(each)]


def ask_range(address: str, query: str, start: float, end: float, step: float) -> list[Mapping[str, Any]]:
    """The series of a range query, each with `metric` and `values`. Times are in seconds since 1970.

    Raises:
        PrometheusFailed: Prometheus does not answer.
    """
    token = os.environ.get(TOKEN)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    asked = urlencode({"query": query, "start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{step:g}"})
    request = Request("GET", f"{address.rstrip('/')}/api/v1/query_range?{asked}", headers)
    with bounded(urllib3.PoolManager(ssl_context=ssl.create_default_context())) as pools:
        try:
            document = decoded(exchange(pools, request, BOUNDS).body)
        except (NoAnswer, NotADocument) as problem:
            raise PrometheusFailed(f"{address} answers no range query: {problem}") from None
    found = at(document, "data.result") if at(document, "status") == "success" else None
    if not isinstance(found, list):
        raise PrometheusFailed(f"{address} refuses the query: {at(document, 'error', 'no series')}\n  {query}")
    return [each for each in cast("list[Any]", found) if is_mapping(each)]


def _ask(pools: Any, headers: Mapping[str, str], address: str, query: str) -> list[Sample]:
    request = Request("GET", f"{address.rstrip('/')}/api/v1/query?{urlencode({'query': query})}", headers)
    if urlsplit(address).scheme not in ("http", "https"):
        raise PrometheusFailed(_unreachable(address, "the address begins with neither http:// nor https://"))
    try:
        answer = exchange(pools, request, BOUNDS)
    except NoAnswer as problem:
        raise PrometheusFailed(_unreachable(address, str(problem).rstrip("."))) from None
    if answer.status in (401, 403):
        raise PrometheusFailed(_unreachable(address, f"it answers {answer.status}"))
    try:
        document = decoded(answer.body)
    except NotADocument as problem:
        raise PrometheusFailed(_unreachable(address, f"it answers {answer.status} with {problem}")) from None
    if is_mapping(document) and document.get("status") == "error":
        raise PrometheusFailed(f"{address} refuses the query: {document.get('error', answer.status)}\n  {query}")
    samples = _samples(document)
    if samples is None:
        said = "something else than results of a query"
        raise PrometheusFailed(_unreachable(address, f"it answers {answer.status} with {said}"))
    return samples


def _samples(document: Any) -> list[Sample] | None:
    """The results of an instant query; None if the document has an unexpected form."""
    found = at(document, "data.result") if at(document, "status") == "success" else None
    if not isinstance(found, list):
        return None
    samples: list[Sample] = []
    for each in cast("list[Any]", found):
        labels, value = at(each, "metric"), at(each, "value")
        if not is_mapping(labels) or not all(isinstance(text, str) for text in labels.values()):
            return None
        try:
            samples.append(Sample(dict(labels), float(value[1])))
        except (TypeError, ValueError, LookupError):
            return None
    return samples


def _unreachable(address: str, reason: str) -> str:
    return (
        f"--prometheus {address}: no Prometheus can be read there: {reason}.\n"
        "  In the cluster: kubectl port-forward --namespace monitoring service/kube-prometheus-prometheus 9090:9090,\n"
        "  then --prometheus http://127.0.0.1:9090. In Azure: the query endpoint of the Azure Monitor workspace, and\n"
        f"  in {TOKEN} what `az account get-access-token --resource https://prometheus.monitor.azure.com` prints.\n"
        "  In the simulator: `physai up STACK --telemetry` starts one, and no --prometheus is needed."
    )
