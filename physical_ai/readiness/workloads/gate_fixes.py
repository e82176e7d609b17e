"""Addition of more specific causes to reports about closed gates. Such a cause comes from signs on the node, such as an
Xid. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from physical_ai.readiness.model import ClosedGate, Report
from physical_ai.readiness.workloads.index import Index
from physical_ai.readiness.workloads.model import Workloads
from physical_ai.readiness.workloads.node_signs import findings


def with_findings(reports: Sequence[Report], given: Workloads) -> tuple[Report, ...]:
    """Reports in which each closed gate also names the more specific cause that signs on its node indicate, with the
    fix that `physai why` shows.
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
