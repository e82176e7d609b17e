"""Reports as text: one line for each change, and all details when the time is up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from physical_ai.readiness.model import ClosedGate, Outcome, Report

MAX_LINES = 12
"""Maximum number of lines about changed nodes in one report; further nodes are only counted."""

NOT_KNOWN = "This project does not know it."
"""Note about a message, condition or alert that is in none of this project's tables, so its original text is shown."""


def closed_gates(reports: Sequence[Report]) -> dict[tuple[str, str], str]:
    """Gate and cause of each closed gate, by pool and node, without details that change often, such as a phase or a
    log line.
    """
    return {(gate.pool, gate.node): f"{gate.gate} {gate.cause}" for report in reports for gate in report.closed}


def changes(before: Mapping[tuple[str, str], str], reports: Sequence[Report]) -> list[str]:
    """Line for each node whose first closed gate has changed, or is now open."""
    now = closed_gates(reports)
    gates = {(gate.pool, gate.node): gate for report in reports for gate in report.closed}
    lines = [line(gates[key]) for key, value in now.items() if before.get(key) != value]
    lines += [f"{pool} {node}: all gates are open" for pool, node in before if (pool, node) not in now]
    if len(lines) <= MAX_LINES:
        return lines
    return [*lines[:MAX_LINES], f"and {len(lines) - MAX_LINES} more nodes changed"]


def line(gate: ClosedGate) -> str:
    """Text about a closed gate, in one line."""
    action = "" if gate.may_recover else " Waiting will not open it."
    fix = f" {gate.fix}" if gate.fix and not gate.may_recover else ""
    return f"{gate.pool} {gate.node}: {gate.gate} is closed{_pod(gate)}. {gate.reason}{action}{fix}"


def _pod(gate: ClosedGate) -> str:
    return f" ({gate.phase} {gate.pod})" if gate.pod else ""


def gpu_counts(report: Report) -> str:
    """Offered and expected number of each resource of the pool: `1 of 2 nvidia.com/gpu`.

    A resource that is offered but not expected is included.
    """
    names = [*report.expected, *(name for name in report.allocatable if name not in report.expected)]
    return ", ".join(f"{report.allocatable.get(name, 0)} of {report.expected.get(name, 0)} {name}" for name in names)


def details(reports: Sequence[Report]) -> list[str]:
    """Lines about all closed gates, pool by pool. Nodes of a pool with the same closed gate, cause and container share
    an entry, which names one of them and gives the number of the others.
    """
    lines: list[str] = []
    for report in reports:
        if not report.closed:
            continue
        lines.append(f"{report.pool}: {gpu_counts(report)}")
        alike: dict[tuple[str, str, str], list[ClosedGate]] = {}
        for gate in report.closed:
            alike.setdefault((gate.gate, gate.cause, gate.container), []).append(gate)
        for group in alike.values():
            lines += [f"  {each}" for each in _group_details(group)]
        lines += [f"  not read: {each}" for each in report.unread]
    return lines


def _group_details(group: Sequence[ClosedGate]) -> list[str]:
    gate = group[0]
    others = f" and {len(group) - 1} more" if len(group) > 1 else ""
    lines = [f"node {gate.node}{others}: gate '{gate.gate}' is closed"]
    if gate.pod:
        container = f", container {gate.container}" if gate.container else ""
        lines.append(f"  pod {gate.pod} {gate.phase}{container}")
    if gate.message:
        lines.append(f"  found: {gate.message}")
    lines.append(f"  {gate.reason}")
    if gate.fix:
        lines.append(f"  fix: {gate.fix}")
    return lines


def empty_pools(reports: Sequence[Report]) -> list[str]:
    """Line for each pool without nodes."""
    return [f"{report.pool}: no nodes; nothing to wait for" for report in reports if report.state == "empty"]


def failure(outcome: Outcome) -> str:
    """Report of a deployment in which GPUs are missing, a rollout is incomplete, or the last read failed."""
    if outcome.problem:
        return f"Whether the GPUs are ready is unknown: {outcome.problem}"
    waited = f"{outcome.seconds / 60:.0f} min" if outcome.seconds >= 90 else f"{outcome.seconds:.0f} s"
    head = (
        f"GPUs are missing after {waited}. Created resources remain, and the next deployment checks again."
        if not outcome.is_only_rollout
        else f"All GPUs are offered, and a rollout is not complete after {waited}. `physai gates` shows when it is."
    )
    return "\n".join([head, *(f"  {each}" for each in details(outcome.reports))])
