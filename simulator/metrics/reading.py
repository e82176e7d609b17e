"""Reader of the running Prometheus and Alertmanager: alerts and query results."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from simulator.cluster.objects import Json
from simulator.errors import SimulationError
from simulator.faults import Injected, faults
from simulator.metrics.telemetry import Telemetry

SEVERITIES = ("critical", "warning", "info")
SECONDS = 30.0


@dataclass(frozen=True)
class Alert:
    """An alert that is pending or firing."""

    name: str
    state: Literal["pending", "firing"]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    since: float
    """Time at which the alert's expression became true, in seconds since the epoch."""
    fired: float | None
    """Time at which the alert began to fire, according to Alertmanager; None if Alertmanager does not have the alert
    yet.
    """

    @property
    def severity(self) -> str:
        return self.labels.get("severity", "")

    @property
    def node(self) -> str:
        return self.labels.get("node", "")

    def cause(self, injected: Mapping[str, Sequence[Injected]]) -> Injected | None:
        """The earliest injected fault that explains this alert; None if no fault does. `injected`: faults by node."""
        given = [
            each
            for node, items in injected.items()
            if not self.node or node == self.node
            for each in items
            if self.name in faults()[each.fault].alerts
        ]
        return min(given, key=lambda each: each.since, default=None)


class Reader:
    """HTTP client for the simulation's Prometheus and Alertmanager."""

    def __init__(self, telemetry: Telemetry) -> None:
        """Reads from the running servers of a simulation. Raises NotRunning if none run."""
        telemetry.demand()
        self._prometheus, self._alertmanager = telemetry.prometheus, telemetry.alertmanager
        self._http = httpx.Client(timeout=SECONDS, trust_env=False)

    def alerts(self) -> list[Alert]:
        """Pending and firing alerts, the most severe first."""
        fired = {
            _key(each["labels"]): _time(each["startsAt"]) for each in self._get(f"{self._alertmanager}/api/v2/alerts")
        }
        found = [_alert(each, fired) for each in self._data("/api/v1/alerts")["alerts"]]
        return sorted(found, key=lambda each: (each.state != "firing", _rank(each), each.name, each.node))

    def query(self, expression: str) -> list[Json]:
        """Samples that the PromQL expression has now."""
        return self._data("/api/v1/query", query=expression)["result"]

    def range(self, expression: str, start: float, end: float, step: float) -> list[Json]:
        """The series of a range query. `start`, `end` and `step` are in seconds."""
        times = {"start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{step:.3f}"}
        return self._data("/api/v1/query_range", query=expression, **times)["result"]

    def rules(self) -> list[Json]:
        """The rule groups, with each rule's health and time of last evaluation."""
        return self._data("/api/v1/rules")["groups"]

    def targets(self) -> list[Json]:
        """Targets that Prometheus scrapes, with the health of each."""
        return self._data("/api/v1/targets", state="active")["activeTargets"]

    def _data(self, path: str, **params: str) -> Any:
        answer = self._get(f"{self._prometheus}{path}", params)
        if answer.get("status") != "success":
            raise SimulationError(f"Prometheus: {answer.get('error', 'no reason given')}")
        return answer["data"]

    def _get(self, url: str, params: Mapping[str, str] | None = None) -> Any:
        try:
            return self._http.get(url, params=params).json()
        except (httpx.HTTPError, ValueError) as problem:
            raise SimulationError(f"{url} does not answer ({problem or type(problem).__name__})") from None


def _alert(given: Json, fired: Mapping[frozenset[tuple[str, str]], float]) -> Alert:
    labels: dict[str, str] = given["labels"]
    return Alert(
        name=labels["alertname"],
        state=given["state"],
        labels={key: value for key, value in labels.items() if key != "alertname"},
        annotations=given["annotations"],
        since=_time(given["activeAt"]),
        fired=fired.get(_key(labels)) if given["state"] == "firing" else None,
    )


def _key(labels: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(labels.items())


def _rank(alert: Alert) -> int:
    return SEVERITIES.index(alert.severity) if alert.severity in SEVERITIES else len(SEVERITIES)


def _time(text: str) -> float:
    """Seconds since the epoch of an RFC 3339 time with any number of fractional digits; Python reads at most six."""
    whole, _, rest = text.removesuffix("Z").partition(".")
    return datetime.datetime.fromisoformat(f"{whole}.{rest[:6] or '0'}+00:00").timestamp()
