"""Upgrades from one GPU Operator release to another: within a line or to the next line, never back."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import sources
from physical_ai.catalog.compat.chart import key_changes
from physical_ai.catalog.compat.lifecycle import POLICY
from physical_ai.catalog.gpu_load import operator_releases
from physical_ai.catalog.gpu_lookup import fixed_release, operator_release, version
from physical_ai.catalog.gpu_rows import OperatorRelease
from physical_ai.catalog.lookup import UnknownName
from physical_ai.findings import Finding, Severity


def upgrade_path(old: str, new: str) -> list[str]:
    """Releases to install one after the other to get from `old` to `new`, which comes last; empty if both are equal.

    Raises `UnknownName` for a release that is not in the catalogue, ValueError for a downgrade.
    """
    start, end = operator_release(old), operator_release(new)
    if version(new) < version(old):
        raise ValueError(f"{new} is older than {old}")
    lines = _lines()
    between = lines[lines.index(start.line) + 1 : lines.index(end.line)] if start.line != end.line else []
    return [*(_last_of(line).version for line in between), *([new] if old != new else [])]


def judge_upgrade(old: str, new: str) -> list[Finding]:
    """Findings about replacing the running release `old` by `new`; none if both are equal."""
    try:
        start, end = operator_release(old), operator_release(new)
    except UnknownName as error:
        fix = f"Did you mean {error.suggestion}?  Known: {', '.join(operator_releases())}."
        return [Finding(Severity.ERROR, "operator-unknown", "operator", str(error), fix, sources.RELEASES)]
    return list(_judge(start, end))


def _judge(start: OperatorRelease, end: OperatorRelease) -> Iterator[Finding]:
    if version(end.version) < version(start.version):
        message = f"{start.version} runs already, and NVIDIA does not support a downgrade to {end.version}."
        fix = f"Keep {start.version}, or uninstall it with its CRDs first."
        yield Finding(Severity.ERROR, "upgrade-downgrade", "operator", message, fix, POLICY)
        return
    if start.line == end.line:
        return
    path = upgrade_path(start.version, end.version)
    if len(path) > 1:
        message = f"An upgrade may not skip lines, as one from {start.line} to {end.line} would."
        yield Finding(
            Severity.ERROR, "upgrade-skips-line", "operator", message, f"Upgrade to {', then '.join(path)}.", POLICY
        )
    if end.changes:
        message = f"New with {end.line}: {'; '.join(end.changes)}."
        gone = ", ".join(key_changes(start.version, end.version).removed)
        fix = f"Look for values that set {gone}." if gone else "No key of the chart's values was removed."
        yield Finding(Severity.INFO, "upgrade-changes", "operator", message, fix, end.source)


def _lines() -> list[str]:
    return list(dict.fromkeys(release.line for release in operator_releases().values()))


def _last_of(line: str) -> OperatorRelease:
    rows = [release for release in operator_releases().values() if release.line == line]
    return fixed_release(([release for release in rows if not release.unverified] or rows)[-1])
