"""Sources of a recording: cluster, Azure, Prometheus and OSMO of a real or simulated stack. They are not changed."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.recordings.asking import Bounded, Say, cluster_entries
from workbench.recordings.azure import azure_entries
from workbench.recordings.form import Entry
from workbench.recordings.questions import REPORTED, SERIES, SPANS, STEP, Limits

if TYPE_CHECKING:
    from physical_ai.settings import Loaded
    from simulator.simulation import Simulation

HOUR = 3600.0
MOST_SERIES = 5000
"""Largest number of series that are recorded for one query. A cluster has a few per Pod."""


@dataclass(frozen=True)
class Wanted:
    """Request for a recording: the stack, the access to its cluster and services, and the limits."""

    loaded: Loaded
    kubeconfig: Path | None
    context: str | None
    prometheus: str | None
    azure: bool
    limits: Limits

    @property
    def stack(self) -> str:
        return str(self.loaded.settings.stack)


def entries(wanted: Wanted, say: Say) -> Iterator[Entry]:
    """All entries of a recording as they were read. The first entry is the head, with the recording's stack and time.

    Raises:
        Unreachable, Unusable: the cluster does not answer at all.
        SimulationError: no simulated cluster of the stack is running.
    """
    from workbench.cli.cluster_gates import cluster_of
    from workbench.recordings.making import head

    target = cluster_of(wanted.stack, wanted.kubeconfig, wanted.loaded.settings, wanted.context)
    until = time.monotonic() + wanted.limits.seconds
    target.get("/version", {})
    now = datetime.datetime.now(datetime.UTC)
    at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    yield head(wanted.stack, at, _program(), simulated=wanted.kubeconfig is None)
    yield {"kind": "settings", "settings": wanted.loaded.raw}
    if wanted.kubeconfig is None:
        yield from _of_simulation(wanted.stack)
    elif wanted.azure:
        yield from _of_azure(wanted, until, say)
    else:
        yield {"kind": "unread", "what": "Azure's resources", "reason": "--azure was not given"}
    yield from _of_prometheus(wanted, now.timestamp(), until, say)
    yield from cluster_entries(Bounded(target.get, wanted.limits, until=until), say)


def _program() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"physical-ai {version('physical-ai')}"
    except PackageNotFoundError:
        return "physical-ai"


def _of_simulation(stack: str) -> Iterator[Entry]:
    """Entries from a simulation: exported pools, workflows, and the bodies of the simulated Azure resources."""
    from workbench.cli.diagnosis_sources import simulated_workflows
    from workbench.cli.simulated_stack import simulation_of

    simulation = simulation_of(stack)
    yield {"kind": "pools", "pools": simulation.outputs().get("pools") or {}}
    yield {"kind": "workflows", "workflows": simulated_workflows(simulation)}
    yield from simulated_bodies(simulation)


def simulated_bodies(simulation: Simulation) -> Iterator[Entry]:
    """Entries with the bodies of simulated Azure resources, as a GET of each returns them."""
    from simulator.azure.filled import body_of_get

    with simulation.azure() as cloud:
        known = sorted(cloud.resources(inline=True))
        found = [each for id_ in known if (each := cloud.get(id_)) is not None]
    for each in found:
        fields = {"type": each.mapping.arm_type, "apiVersion": each.mapping.api_version}
        yield {"kind": "azure", "id": each.id, **fields, "body": body_of_get(each)}


def _of_azure(wanted: Wanted, until: float, say: Say) -> Iterator[Entry]:
    from physical_ai.settings.facts.naming import Names
    from workbench.cli.azure_login import subscription_of_login
    from workbench.preflight import Unanswered
    from workbench.preflight.login import NoLogin, logged_in

    try:
        get = logged_in()
        subscription = subscription_of_login(get)
    except (NoLogin, Unanswered) as problem:
        yield {"kind": "unread", "what": "Azure's resources", "reason": str(problem)}
        return
    group = f"/subscriptions/{subscription}/resourceGroups/{Names(wanted.loaded.settings.stack).resource_group}"
    yield from azure_entries(get, group, wanted.limits, say, until)


def _of_prometheus(wanted: Wanted, now: float, until: float, say: Say) -> Iterator[Entry]:
    """Entries from Prometheus: answers to the queries of `why`, `alerts` and `usage`, and time series of `SERIES`."""
    from physical_ai.telemetry.usage import queries
    from physical_ai.telemetry.usage_report import report_queries
    from workbench.cli.prometheus import PrometheusFailed, ask, ask_range, listed_alerts, simulated_address
    from workbench.cli.prometheus_signs import NOT_ASKED, NOT_RUNNING, signal_queries

    address = wanted.prometheus or (None if wanted.kubeconfig else simulated_address(wanted.stack))
    if address is None:
        missing = NOT_ASKED if wanted.kubeconfig else NOT_RUNNING.format(stack=wanted.stack)
        what, _, reason = missing.partition(", because ")
        yield {"kind": "unread", "what": f"{what}, usage and metrics", "reason": reason}
        return
    asked = {**signal_queries(), **{f"{span} {key}": text for span in SPANS for key, text in queries(span).items()}}
    asked |= {f"report {key}": text for key, text in report_queries(REPORTED).items()}
    for number, text in enumerate(dict.fromkeys(asked.values())):
        say(f"Prometheus: {number + 1} of {len(asked) + len(SERIES)} queries")
        if time.monotonic() > until:
            yield _out_of_time("alerts, further usage and metrics", wanted)
            return
        try:
            samples = ask(address, {"": text})[""]
        except PrometheusFailed as problem:
            yield {"kind": "unread", "what": "alerts, usage and metrics", "reason": str(problem).splitlines()[0]}
            return
        found: list[dict[str, Any]] = [{"labels": dict(each.labels), "value": each.value} for each in samples]
        yield {
            "kind": "samples",
            "query": text,
            "samples": sorted(found, key=lambda each: sorted(each["labels"].items())),
        }
    try:
        yield {"kind": "alerts", "alerts": [dict(each) for each in listed_alerts(address)]}
        for name, text in SERIES.items():
            say(f"Prometheus: {name} of the last hour")
            if time.monotonic() > until:
                yield _out_of_time("further series of the last hour", wanted)
                return
            yield _series(ask_range(address, text, now - HOUR, now, STEP), text)
    except PrometheusFailed as problem:
        yield {"kind": "unread", "what": "series of the last hour", "reason": str(problem).splitlines()[0]}


def _out_of_time(what: str, wanted: Wanted) -> Entry:
    return {"kind": "unread", "what": what, "reason": f"not read any more: {wanted.limits.seconds:g} s are over"}


def _series(found: list[Any], query: str) -> Entry:
    kept = [dict(each) for each in found[:MOST_SERIES]]
    left = len(found) - len(kept)
    return {"kind": "series", "query": query, "step": STEP, "series": kept, **({"leftOut": left} if left else {})}
