"""Alerts and Xids from a Prometheus, as input of the diagnosis."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from physical_ai.nested import at

if TYPE_CHECKING:
    from physical_ai.readiness.nodes.signs import Alert, Seen
    from physical_ai.telemetry.usage import Sample

RECENT, WINDOW = "1d", "30d"
"""Periods in PromQL notation. RECENT: age up to which an Xid may explain a present problem. WINDOW: age up to which
Xids are listed.
"""
NOT_ASKED = "alerts and Xids, because no Prometheus was named: add --prometheus URL"
NOT_RUNNING = (
    "alerts and Xids, because the simulated stack runs no Prometheus: physai up {stack} --telemetry starts one"
)
BEHIND_SECONDS = 300.0
"""Seconds after which Prometheus treats a series as stale, so that its last value does not show the present."""
REPORTED = "DCGM_FI_DEV_FB_USED|gpu_operator_node_device_plugin_devices_total|gpu_used_vram"
"""Pattern of metric names. Each node whose exporters work has at least one of these metrics."""
_TEMPLATE = re.compile(r"\{\{\s*\$labels\.(\w+)\s*\}\}")


@dataclass(frozen=True)
class Signals:
    """Alerts and Xids that were read from a Prometheus, and what could not be read."""

    alerts: Sequence[Alert] | None = None
    """Firing alerts; None if no Prometheus was asked, or it did not answer."""
    pending: Sequence[Alert] = ()
    """Alerts that are pending and do not fire yet."""
    reported: Mapping[str, float] = field(default_factory=dict[str, float])
    """Time of each node's last report about its GPUs, in seconds since 1970."""
    xids: Mapping[str, Sequence[Seen]] = field(default_factory=dict[str, "Sequence[Seen]"])
    """Xids that occurred within the period `WINDOW`, by node."""
    unread: tuple[str, ...] = ()
    """Texts about alerts and Xids that were not read, with the option that reads them."""

    def not_read(self, node: str) -> tuple[str, ...]:
        """Texts about the alerts and Xids that could not be read for a node, with the reasons."""
        if self.alerts is None or node in self.reported:
            return self.unread
        silent = f"alerts and Xids of {node}, because the Prometheus has no series of its GPUs"
        return (*self.unread, f"{silent}: their exporters report nothing, or are not scraped")

    def of(self, node: str) -> tuple[list[Alert], list[Seen]]:
        """The firing alerts about a node, and the node's Xids."""
        alerts = [each for each in self.alerts or () if ("node", node) in each.about((node,))]
        return alerts, list(self.xids.get(node, ()))


@dataclass(frozen=True)
class Asked:
    """Prometheus that answers the diagnosis: a running Prometheus, or the answers in a recording."""

    address: str
    ask: Callable[[Mapping[str, str]], Mapping[str, Sequence[Sample]]]
    firing: Callable[[], Iterable[Mapping[str, Any]]]
    now: Callable[[], float] = time.time
    """Function that returns the time of the answers, in seconds since 1970."""


def read_signals(stack: str, kubeconfig: Path | None, prometheus: str | None) -> Signals:
    """Alerts and Xids from the Prometheus at the address `prometheus`. Without an address, from the simulated stack's
    Prometheus if it runs.
    """
    from workbench.cli.prometheus import ask, firing, simulated_address

    address = prometheus or (None if kubeconfig else simulated_address(stack))
    if address is None:
        return Signals(unread=(NOT_ASKED if kubeconfig else NOT_RUNNING.format(stack=stack),))
    return signals_of(Asked(address, lambda queries: ask(address, queries), lambda: firing(address)))


def signal_queries() -> dict[str, str]:
    """The queries whose answers `signals_of` needs, by name."""
    return {
        "alerts": 'ALERTS{alertstate="firing"}',
        "pending": 'ALERTS{alertstate="pending"}',
        "recent": _xids(RECENT),
        "all": _xids(WINDOW),
        "newest": "max(timestamp(up))",
        "reported": f'max by (node) (timestamp({{__name__=~"{REPORTED}"}}))',
    }


def signals_of(asked: Asked) -> Signals:
    """Alerts and Xids from the answers to `signal_queries`."""
    from workbench.cli.prometheus import PrometheusFailed

    try:
        found = asked.ask(signal_queries())
    except PrometheusFailed as problem:
        reason = " ".join(str(problem).splitlines()[0].split())
        return Signals(unread=(f"alerts and Xids, because {reason}",))
    if problem := _outdated(asked, found["newest"]):
        return Signals(unread=(f"alerts and Xids, because {problem}",))
    alerts = [_alert(each) for each in found["alerts"]]
    if alerts:
        # A Prometheus may have time series but no rules: an alert then has only its labels.
        with suppress(PrometheusFailed):
            alerts = _annotated(alerts, asked.firing())
    recent = {_key(each) for each in found["recent"]}
    reported = {each.labels.get("node", ""): each.value for each in found["reported"]}
    pending = [_alert(each) for each in found["pending"]]
    return Signals(alerts, pending, reported, _by_node(found["all"], recent))


def _outdated(asked: Asked, newest: Sequence[Sample]) -> str:
    """Reason why a Prometheus's answers are outdated; empty if they are current."""
    address = asked.address
    if not newest:
        return f"the Prometheus at {address} has scraped nothing: no rule of it can fire"
    late = asked.now() - newest[0].value
    if late > BEHIND_SECONDS:
        minutes = int(late // 60)
        return f"the Prometheus at {address} is {minutes} minutes behind: its newest scrape is that old"
    return ""


def _annotated(alerts: Sequence[Alert], listed: Iterable[Mapping[str, Any]]) -> list[Alert]:
    """The alerts with the annotations of their rules, in which Prometheus has filled in values."""
    words = {
        (name, frozenset(labels.items())): at(each, "annotations", dict[str, str]())
        for each in listed
        for name, labels in [_split(at(each, "labels", dict[str, str]()))]
    }
    found: list[Alert] = []
    for each in alerts:
        said = words.get((each.name, frozenset(each.labels.items())), {})
        summary = str(said.get("summary") or said.get("description") or said.get("message") or "")
        runbook = str(said.get("runbook_url") or "")
        action = str(said.get("action") or "") or each.action
        found.append(replace(each, summary=summary or each.summary, action=action, runbook=runbook))
    return found


def _split(given: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Name and labels of an alert. Labels that only Prometheus's time series of alerts has are left out."""
    labels = {key: value for key, value in given.items() if key not in ("__name__", "alertname", "alertstate")}
    return given.get("alertname", ""), labels


def _xids(window: str) -> str:
    return f"max by (node, UUID, gpu, xid) (max_over_time(DCGM_EXP_XID_ERRORS_COUNT[{window}])) > 0"


def _key(sample: Sample) -> tuple[str, ...]:
    return tuple(sample.labels.get(key, "") for key in ("node", "UUID", "gpu", "xid"))


def _by_node(samples: Sequence[Sample], recent: Container[tuple[str, ...]]) -> dict[str, list[Seen]]:
    from physical_ai.readiness.nodes.signs import Seen

    found: dict[str, list[Seen]] = {}
    for each in samples:
        given = each.labels
        if given.get("xid", "").isdigit():
            gpu, number = given.get("UUID", ""), given.get("gpu", "")
            seen = Seen(
                int(given["xid"]), "metric", gpu or number, index=number, past=True, old=_key(each) not in recent
            )
            found.setdefault(given.get("node", ""), []).append(seen)
    return found


def _alert(sample: Sample) -> Alert:
    """An alert from its time series, which has no annotations. If the alert's rule is one of this project, the
    annotations are taken from the rule.
    """
    from physical_ai.readiness.nodes.signs import Alert
    from physical_ai.telemetry.rule_rows import alert_rows

    name, labels = _split(sample.labels)
    row = alert_rows().get(name)
    if row is None:
        return Alert(name, labels)
    said = _TEMPLATE.sub(lambda label: labels.get(label[1], "?"), row.summary).replace("$pool", labels.get("pool", "?"))
    return Alert(name, labels, re.sub(r"\s*\{\{[^}]*\}\}", "", said), row.action)
