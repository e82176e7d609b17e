"""The report of an upgrade as lines of text and as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from physical_ai.releases.notes import Effect, Release
from workbench.upgrade.judging import Journey
from workbench.upgrade.rewriting import Blocked, Rewrite

OPERATIONS = {"create": "to create", "update": "to update", "delete": "to delete", "replace": "to replace"}
UNANNOUNCED = "the notes of the releases do not mention it"


@dataclass(frozen=True)
class StackReport:
    """Effects of an upgrade on one stack."""

    name: str
    warnings: tuple[str, ...] = ()
    """Warnings of the new version about the stack's files, such as keys of values that the chart does not read."""
    preview: Mapping[str, Any] | None = None
    """Document of `physai preview --format json`; None without a preview."""
    failed: str = ""
    """Output of the version that could not be simulated or previewed."""


@dataclass(frozen=True)
class Report:
    """All that an upgrade changes."""

    journey: Journey
    rewrites: Sequence[Rewrite]
    left: Sequence[Blocked]
    """Former names that are not rewritten, and that the new version still reads."""
    files: Sequence[str]
    """Files that are written."""
    stacks: Sequence[StackReport]
    by_hand: Sequence[str] = field(default_factory=tuple)
    """Sentences about files of the project that a person has to compare."""


@dataclass(frozen=True)
class ResourceChange:
    """A resource that is replaced, deleted or disrupted, and the reason that the notes give."""

    op: str
    resource: str
    effects: tuple[str, ...]
    why: str


def lines(report: Report) -> Iterator[str]:
    """The report as lines of text."""
    journey = report.journey
    yield f"upgrade from {journey.old} to {journey.new}"
    yield from (f"  {each.version}{_day(each)}: {each.summary}" for each in journey.releases)
    yield from _section("settings", [_rewrite(each) for each in report.rewrites])
    yield from _section("settings that stay under their former names", [str(each) for each in report.left])
    yield from _section("outputs", list(_outputs(journey)))
    yield from _section("charts", list(_charts(journey)))
    for stack in report.stacks:
        yield from _section(f"stack {stack.name}", list(_stack(stack, journey)))
    steps = [f"{each.when} the deployment, {each.id}: {each.text}" for each in journey.steps]
    yield from _section("steps for you", steps)
    yield from _section("files", [*report.files, *report.by_hand])
    yield from _section("way back", list(way_back(journey)))


def _section(title: str, rows: Sequence[str]) -> Iterator[str]:
    if rows:
        yield ""
        yield title
        yield from (f"  {line}" for row in rows for line in row.splitlines())


def _day(release: Release) -> str:
    return f" ({release.date})" if release.date else ""


def _rewrite(each: Rewrite) -> str:
    place = f"{each.file}:{each.line}" if each.line is not None else each.file
    change = f"{each.old} becomes {each.new}" if each.new is not None else f"{each.old} is removed"
    return f"{place}: {change}" + (f" ({each.note})" if each.note else "")


def _outputs(journey: Journey) -> Iterator[str]:
    for release in journey.releases:
        for each in release.outputs:
            yield f"{each.old} is called {each.new}; version {each.until} no longer has the former name"


def _charts(journey: Journey) -> Iterator[str]:
    for release in journey.releases:
        for each in release.charts:
            yield f"{each.chart} {each.old} → {each.new}"
            yield from (f"  key {dead.key} is not read any more: {dead.instead}" for dead in each.dead)


def _stack(stack: StackReport, journey: Journey) -> Iterator[str]:
    if stack.failed:
        yield f"not previewed: {stack.failed}"
    if stack.preview is not None:
        yield headline(stack.preview)
        yield counts(stack.preview)
        for each in disruptions(stack.preview, journey.releases):
            yield f"{each.op} {each.resource}: {' '.join(filter(None, (*each.effects, each.why)))}"
    yield from stack.warnings


def headline(preview: Mapping[str, Any]) -> str:
    """First line of the impact on running work."""
    impact: Mapping[str, Any] = preview.get("impact") or {}
    return str(impact.get("headline") or "No running work ends.")


def counts(preview: Mapping[str, Any]) -> str:
    """Number of changes by operation, as text."""
    found: Mapping[str, int] = preview.get("summary") or {}
    return ", ".join(f"{found[op]} {words}" for op, words in OPERATIONS.items() if found.get(op)) or "no changes"


def disruptions(preview: Mapping[str, Any], releases: Sequence[Release]) -> list[ResourceChange]:
    """Resources that are replaced or deleted, or whose update restarts or installs something, with the reasons of the
    notes.
    """
    found: list[ResourceChange] = []
    changes: Sequence[Mapping[str, Any]] = preview.get("changes") or ()
    for each in changes:
        effects, op = tuple(each.get("impact") or ()), str(each["op"])
        why = reason(str(each["type"]), str(each["name"]), releases)
        if op in ("replace", "delete") or effects or why is not None:
            kind = str(each["type"]).rpartition(":")[2]
            found.append(ResourceChange(op, f"{kind} {each['name']}", effects, why or _unannounced(op)))
    return found


def _unannounced(op: str) -> str:
    return UNANNOUNCED if op in ("replace", "delete") else ""


def reason(type_: str, name: str, releases: Sequence[Release]) -> str | None:
    """Reason that the notes give for a change of a resource; None if they do not mention the resource."""
    return next((each.why for release in releases for each in release.resources if fits(each, type_, name)), None)


def fits(effect: Effect, type_: str, name: str) -> bool:
    """True if an entry of the notes is about a resource."""
    return (type_ == effect.type or type_.endswith(f":{effect.type}")) and fnmatchcase(name, effect.name)


def way_back(journey: Journey) -> Iterator[str]:
    """Instructions for the way back to the present version."""
    closed = [each for each in journey.releases if not each.back.open]
    yield "before the deployment: git restore . (before the commit), or git revert COMMIT, and make up"
    if closed:
        yield f"after the deployment there is none to versions before {closed[-1].version}: {closed[-1].back.text}"
        return
    yield f"after the deployment: the same, and pulumi up with version {journey.old}"
    yield from (each.back.text for each in journey.releases)


def document(report: Report) -> dict[str, Any]:
    """The report as data, with stable keys."""
    journey = report.journey
    return {
        "from": str(journey.old),
        "to": str(journey.new),
        "releases": [each.model_dump(mode="json", by_alias=True) for each in journey.releases],
        "settings": [
            {"file": e.file, "line": e.line, "from": e.old, "to": e.new, "version": e.version, "note": e.note or None}
            for e in report.rewrites
        ],
        "notRewritten": [
            {"file": e.file, "line": e.line, "path": e.path, "problem": e.problem, "fix": e.fix} for e in report.left
        ],
        "files": list(report.files),
        "byHand": list(report.by_hand),
        "stacks": [_stack_document(each, journey) for each in report.stacks],
        "wayBack": list(way_back(journey)),
    }


def _stack_document(stack: StackReport, journey: Journey) -> dict[str, Any]:
    shown = stack.preview
    return {
        "stack": stack.name,
        "failed": stack.failed or None,
        "warnings": list(stack.warnings),
        "headline": headline(shown) if shown is not None else None,
        "summary": dict(shown.get("summary") or {}) if shown is not None else None,
        "disruptions": [
            {"op": e.op, "resource": e.resource, "effects": list(e.effects), "why": e.why or None}
            for e in (disruptions(shown, journey.releases) if shown is not None else ())
        ],
        "preview": shown,
    }
