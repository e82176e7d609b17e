"""Archives of pinned charts: the path of a pulled archive, and its checksum.

Where the catalogue has no checksum of a chart, the checksum of the first pull counts: `physai charts pull` writes it
into `stacks/charts.lock`, which is kept with the stacks and reviewed like them.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable
from pathlib import Path

import yaml

from physical_ai.catalog.charts import Chart, Sha256
from physical_ai.catalog.load import read_rows, row
from physical_ai.catalog.rows import Row, Text
from physical_ai.citations import changed_in
from physical_ai.repository import PROJECT, STACKS, user_folder

LOCK = STACKS / "charts.lock"
PINS = changed_in("physical_ai/catalog/data/charts.yaml")
ARCHIVES = PROJECT / ".charts"
"""Folder of verified archives, which a stack with `charts.source: cache` installs.

It is below the project, so that an archive's path, an input of the release, is the same on every machine.
"""
_LOCK_HEAD = """\
# Checksums of charts for which the catalogue of the platform has none: what the first `physai charts pull`
# found. Every later pull, and every deployment from the cache, must find the same. Commit it; compare it with another
# source before production.
"""


class ChecksumMismatch(Exception):
    """Raised where a chart archive differs from the pinned one. The text names both checksums and what to do."""


class Locked(Row):
    """A checksum recorded by a first pull."""

    name: Text
    version: Text
    repository: Text
    sha256: Sha256
    date: datetime.date
    """Day of the first pull."""


def cached_chart(chart: Chart) -> Path:
    """Path to which `physai charts pull` writes the verified archive, and from which the archive is read."""
    return user_folder() / "charts" / f"{chart.name}-{chart.version}.tgz"


def installed_path(chart: Chart) -> str:
    """Path from which a release installs the archive, relative to the project.

    >>> from physical_ai.catalog.charts import chart
    >>> installed_path(chart("gpu-operator", "v26.7.0"))
    '.charts/gpu-operator-v26.7.0.tgz'
    """
    return f".charts/{cached_chart(chart).name}"


def installed_chart(chart: Chart) -> Path:
    """Absolute path of the archive that a release installs; `physai charts pull` puts it there."""
    return ARCHIVES / cached_chart(chart).name


def locked() -> dict[tuple[str, str], Locked]:
    """Checksums recorded by first pulls, by name and version."""
    if not LOCK.exists():
        return {}
    rows = [row(Locked, data, f"{LOCK.name}: {data.get('name')}") for data in read_rows(LOCK)]
    return {(item.name, item.version): item for item in rows}


def expected_sha256(chart: Chart) -> str | None:
    """Checksum that an archive must have: the checksum in the catalogue or, if the catalogue has none, the checksum
    recorded by the first pull; None before the first pull.
    """
    recorded = locked().get((chart.name, chart.version))
    return chart.sha256 or (recorded.sha256 if recorded else None)


def record(chart: Chart, sha256: str, day: datetime.date) -> Locked:
    """Writes the checksum of a first pull into the lock file."""
    item = Locked(name=chart.name, version=chart.version, repository=chart.repository, sha256=sha256, date=day)
    _write_lock({**locked(), (item.name, item.version): item}.values())
    return item


def _write_lock(rows: Iterable[Locked]) -> None:
    lines = [item.model_dump(by_alias=True) for item in sorted(rows, key=lambda item: (item.name, item.version))]
    draft = LOCK.with_name(f".{LOCK.name}")
    draft.write_text(_LOCK_HEAD + yaml.safe_dump(lines, sort_keys=False, width=120), encoding="utf-8")
    draft.replace(LOCK)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file in hexadecimal. Raises OSError where the file cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify(chart: Chart, path: Path) -> str:
    """Checks that an archive is the pinned one, and returns its checksum.

    Raises:
        ChecksumMismatch: The archive has a checksum other than the expected one, or no checksum is known to compare it
            with.
        OSError: The archive cannot be read.
    """
    expected, found = expected_sha256(chart), sha256_of(path)
    title = f"{chart.name} {chart.version}"
    if expected is None:
        raise ChecksumMismatch(
            f"no checksum of the chart {title} is known, so {path} can't be verified.\n"
            "  `physai charts pull` downloads it and records one in stacks/charts.lock."
        )
    if found != expected:
        raise ChecksumMismatch(
            f"{path} is not the chart {title}: its sha256 is\n    {found}\n  and should be\n    {expected}\n"
            "  Remove the file and run `physai charts pull`. If the chart itself was published again, find out why\n"
            f"  before you change stacks/charts.lock, or {PINS}."
        )
    return found
