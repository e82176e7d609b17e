"""Download of a pinned chart into the user's cache, and verification of its checksum."""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock

from physical_ai.catalog.chart_archives import (
    PINS,
    ChecksumMismatch,
    cached_chart,
    expected_sha256,
    installed_chart,
    record,
    sha256_of,
    verify,
)
from physical_ai.catalog.charts import Chart
from physical_ai.repository import user_folder

_SECONDS = 300


class PullFailed(Exception):
    """Error if a chart could not be downloaded; the text is helm's error output."""


class Unlocked(PullFailed):
    """Error for a chart without a known checksum, if the caller requires one."""


@dataclass(frozen=True)
class Pulled:
    """A chart's archive in the cache, and the result of the download."""

    chart: Chart
    path: Path
    sha256: str
    outcome: Literal["present", "verified", "recorded"]
    """Result of the download. `present`: the cache already had the archive. `verified`: the archive was downloaded, and
    has the pinned checksum. `recorded`: the archive was downloaded, and its checksum was recorded because none was
    known.
    """


def pull(chart: Chart, helm: Path, *, locked: bool = False) -> Pulled:
    """Downloads a chart's archive to the cache, unless the cache has the pinned archive.

    With `locked`, a chart without a known checksum is refused. Pipelines use this option: they cannot judge the first
    download of a chart.

    Raises:
        Unlocked: `locked` is set, and the chart has no known checksum.
        PullFailed: the repository has no such chart, or cannot be reached.
        ChecksumMismatch: the downloaded archive is not the pinned one. It is deleted.
    """
    target = cached_chart(chart)
    lock = user_folder() / "locks" / "charts.lock"
    for folder in (target.parent, lock.parent):
        folder.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        expected = expected_sha256(chart)
        if expected is None and locked:
            raise Unlocked(
                f"no checksum of the chart {chart.name} {chart.version} is known, and --locked trusts no "
                "first download.\n"
                "  Run `physai charts pull` on your machine, and commit stacks/charts.lock."
            )
        if expected is not None and target.exists() and sha256_of(target) == expected:
            _install(chart, target)
            return Pulled(chart, target, expected, "present")
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=target.parent) as folder:
            archive = _download(chart, helm, Path(folder))
            if expected is None:
                found = sha256_of(archive)
                record(chart, found, datetime.datetime.now(datetime.UTC).date())
            else:
                found = _verified(chart, archive)
            archive.replace(target)
        _install(chart, target)
        return Pulled(chart, target, found, "recorded" if expected is None else "verified")


def _install(chart: Chart, archive: Path) -> None:
    """Copies a verified archive to the path from which stacks with `charts.source: cache` install the chart."""
    target = installed_chart(chart)
    target.parent.mkdir(exist_ok=True)
    draft = target.with_name(f".{target.name}")
    shutil.copyfile(archive, draft)
    draft.replace(target)


def _verified(chart: Chart, archive: Path) -> str:
    try:
        return verify(chart, archive)
    except ChecksumMismatch:
        raise ChecksumMismatch(
            f"{chart.repository} has another archive of the chart {chart.name} {chart.version} than the pinned one:\n"
            f"    sha256 {sha256_of(archive)}\n  expected\n    sha256 {expected_sha256(chart)}\n"
            f"  It was deleted. Find out why before you change the pin in stacks/charts.lock, or in {PINS}."
        ) from None


def _download(chart: Chart, helm: Path, folder: Path) -> Path:
    """Downloads a chart with `helm pull` into `folder`, and returns the path of its archive. helm's index cache is in
    `folder`, too.
    """
    source = [f"{chart.repository}/{chart.name}"] if chart.is_oci else [chart.name, "--repo", chart.repository]
    done = subprocess.run(
        [str(helm), "pull", *source, "--version", chart.version, "--destination", str(folder)],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        env={**os.environ, "HELM_CACHE_HOME": str(folder / "cache"), "HELM_NO_PLUGINS": "1"},
    )
    archives = sorted(folder.glob("*.tgz"))
    if done.returncode or len(archives) != 1:
        problem = done.stderr.strip().removeprefix("Error: ") or "helm wrote no archive"
        raise PullFailed(f"{chart.name} {chart.version} could not be pulled from {chart.repository}:\n  {problem}")
    return archives[0]
