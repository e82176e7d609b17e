"""Queries to a Prometheus, or to what has its interface."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import httpx

from physical_ai.telemetry.usage import Sample

TOKEN = "PROMETHEUS_TOKEN"  # noqa: S105 - a name
TIMEOUT_SECONDS = 60.0


DEFAULT = "http://127.0.0.1:9090"
"""Where `kubectl port-forward` makes that of a cluster answer."""


def simulated_address(stack: str) -> str | None:
    """That of a simulated stack; None where it runs none."""
    from physical_ai.simulator.simulation import Simulation

    telemetry = Simulation(stack).telemetry
    return telemetry.prometheus if telemetry.is_running() else None


class PrometheusFailed(Exception):
    """It does not answer, or refuses a query; the text describes why and what to do."""


def ask(address: str, queries: Mapping[str, str]) -> dict[str, list[Sample]]:
    """The results of instant queries by name.

    Raises:
        PrometheusFailed: with the address, the reason, and what to write.
    """
    token = os.environ.get(TOKEN)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=address, headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
        return {name: _ask(client, address, query) for name, query in queries.items()}


def _ask(client: httpx.Client, address: str, query: str) -> list[Sample]:
    try:
        answer = client.get("/api/v1/query", params={"query": query})
        document: dict[str, Any] = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:
        raise PrometheusFailed(_unreachable(address, str(problem) or type(problem).__name__)) from None
    if answer.status_code in (401, 403):
        raise PrometheusFailed(_unreachable(address, f"it answers {answer.status_code}"))
    if document.get("status") != "success":
        raise PrometheusFailed(f"{address} refuses the query: {document.get('error', answer.status_code)}\n  {query}")
    return [Sample(each["metric"], float(each["value"][1])) for each in document["data"]["result"]]


def _unreachable(address: str, reason: str) -> str:
    return (
        f"--prometheus {address}: no Prometheus can be read there: {reason}.\n"
        "  In the cluster: kubectl port-forward --namespace monitoring service/kube-prometheus-prometheus 9090:9090,\n"
        "  then --prometheus http://127.0.0.1:9090. In Azure: the query endpoint of the Azure Monitor workspace, and\n"
        f"  in {TOKEN} what `az account get-access-token --resource https://prometheus.monitor.azure.com` prints.\n"
        "  In the simulator: `physai up STACK --telemetry` starts one, and no --prometheus is needed."
    )
