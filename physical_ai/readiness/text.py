"""Reports in words: a line when something changes, and the whole story when time is up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from physical_ai.readiness.model import Report, Shut

LINES_AT_MOST = 12
"""Lines of one look; a hundred nodes that join at once are told as a number."""


def standing(reports: Sequence[Report]) -> dict[tuple[str, str], str]:
    """Gate and cause of each shut node, by pool and node. What flickers (a phase, a log line) is left out."""
    return {(shut.pool, shut.node): f"{shut.gate} {shut.cause}" for report in reports for shut in report.shut}


def changes(before: Mapping[tuple[str, str], str], reports: Sequence[Report]) -> list[str]:
    """A line for each node whose first shut gate is another one than before, or that has opened."""
    now = standing(reports)
    shut = {(each.pool, each.node): each for report in reports for each in report.shut}
    lines = [line(shut[key]) for key, value in now.items() if before.get(key) != value]
    lines += [f"{pool} {node}: all gates are open" for pool, node in before if (pool, node) not in now]
    if len(lines) <= LINES_AT_MOST:
        return lines
    return [*lines[:LINES_AT_MOST], f"and {len(lines) - LINES_AT_MOST} more nodes changed"]


def line(shut: Shut) -> str:
    """One shut gate in one line."""
    needs = "" if shut.opens_itself else " This does not open by itself."
    way_out = f" {shut.way_out}" if shut.way_out and not shut.opens_itself else ""
    return f"{shut.pool} {shut.node}: {shut.gate} is shut{_place(shut)}. {shut.reason}{needs}{way_out}"


def _place(shut: Shut) -> str:
    return f" ({shut.phase} {shut.pod})" if shut.pod else ""


def counted(report: Report) -> str:
    """`1 of 2 nvidia.com/gpu`, for each resource of the pool.

    A resource that is offered and not wanted is named too.
    """
    names = [*report.expected, *(name for name in report.allocatable if name not in report.expected)]
    return ", ".join(f"{report.allocatable.get(name, 0)} of {report.expected.get(name, 0)} {name}" for name in names)


def story(reports: Sequence[Report]) -> list[str]:
    """Every shut gate with all that is known; nodes with the same trouble are told once, with their number."""
    lines: list[str] = []
    for report in reports:
        if not report.shut:
            continue
        lines.append(f"{report.pool}: {counted(report)}")
        alike: dict[tuple[str, str, str], list[Shut]] = {}
        for shut in report.shut:
            alike.setdefault((shut.gate, shut.cause, shut.container), []).append(shut)
        for group in alike.values():
            lines += [f"  {each}" for each in _told(group)]
    return lines


def _told(group: Sequence[Shut]) -> list[str]:
    shut = group[0]
    others = f" and {len(group) - 1} more" if len(group) > 1 else ""
    lines = [f"node {shut.node}{others}: gate '{shut.gate}' is shut"]
    if shut.pod:
        inside = f", container {shut.container}" if shut.container else ""
        lines.append(f"  pod {shut.pod} {shut.phase}{inside}")
    if shut.words:
        lines.append(f"  found: {shut.words}")
    lines.append(f"  {shut.reason}")
    if shut.way_out:
        lines.append(f"  way out: {shut.way_out}")
    return lines


def empty(reports: Sequence[Report]) -> list[str]:
    """A line for each pool without nodes."""
    return [f"{report.pool}: no nodes; nothing to wait for" for report in reports if report.state == "empty"]
