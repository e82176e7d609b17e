"""Closed gates of a cluster with the causes that the signs on their nodes indicate. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from physical_ai.readiness.model import ClosedGate, Report
from physical_ai.readiness.workloads.index import Index
from physical_ai.readiness.workloads.model import Workloads
from physical_ai.readiness.workloads.node_signs import findings


def with_findings(reports: Sequence[Report], given: Workloads) -> tuple[Report, ...]:
    """The reports, in which a gate that a more specific cause explains has that cause and the advice of `physai
    why`.
    """
    index = Index(replace(given, reports=reports))
    return tuple(replace(report, closed=tuple(_gate(each, index) for each in report.closed)) for report in reports)


def _gate(gate: ClosedGate, index: Index) -> ClosedGate:
    found = next((each for each in findings(gate.node, index) if each.gate), None)
    if found is None:
        return gate
    more = "" if found.cause == gate.cause or found.reason == gate.reason else f" {found.cause}: {found.reason}"
    # For an unknown cause that only waits there is no command; `physai why` describes it differently.
    fix = found.fix if gate.fix or more else gate.fix
    return replace(gate, reason=f"{gate.reason}{more}", fix=fix)
