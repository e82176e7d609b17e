"""Pinned Helm charts: versions, repository, checksum and evidence of each.

>>> chart("gpu-operator", "v26.7.0").repository
'https://helm.ngc.nvidia.com/nvidia'
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import StringConstraints, TypeAdapter, ValidationError

from physical_ai.catalog.gpu_lookup import version
from physical_ai.catalog.load import DATA, CatalogError, read_all_rows, row
from physical_ai.catalog.lookup import UnknownName, nearest
from physical_ai.catalog.rows import Row, Text
from physical_ai.repository import part_files

PINS = "charts.yaml"
"""Name of the files with pinned charts."""
LISTS = ("versions", "retracted", "compared")
"""Keys of a chart's row whose values are lists of rows."""
CHART_KEYS = ("name", "repository", "organisation", "licence", *LISTS)
"""All keys of a chart's row. Facts about one version of the chart are in the rows under `versions`."""
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class RetractedVersion(UnknownName):
    """Raised for a chart version that its publisher has withdrawn."""

    def __init__(self, name: str, item: Retracted, suggestion: str | None) -> None:
        super().__init__(f"version of the {name} chart", item.version, suggestion)
        self.args = (f"'{item.version}' of the {name} chart was retracted: {item.reason} ({item.source}).",)


class KeysRead(Row):
    """Chart version at which the keys of a chart's values were read, and the reason why it is not the pinned
    version.
    """

    version: Text
    reason: Text


class Retracted(Row):
    """Version of a chart that its publisher has withdrawn."""

    version: Text
    reason: Text
    source: Text
    date: datetime.date


class Chart(Row):
    """One pinned version of a chart."""

    name: Text
    version: Text
    repository: Annotated[str, StringConstraints(pattern=r"^(https|http|oci)://\S+[^/\s]$")]
    """Address of a chart repository, or of a folder in an OCI registry."""
    sha256: Sha256 | None = None
    """Checksum of the archive; None if the catalogue has none. See `expected_sha256`."""
    organisation: Text
    """Publisher of the chart: the owner of its source repository."""
    licence: Text
    """Licence of the chart's source, as an SPDX identifier."""
    tag: Text | None = None
    """Commit that the version's tag points to; None where it was not read."""
    released: datetime.date | None = None
    """Day of the tag's commit."""
    known: Literal["seen", "read", "believed"]
    """Evidence that the version exists. `seen`: somebody published a checksum or an installation of it. `read`: its tag
    was read. `believed`: only others mention it.
    """
    keys: KeysRead | None = None
    """Chart version at which the keys were read, and the reason why it is not the pinned version; None if the keys were
    read at the pinned version.
    """
    source: Text
    date: datetime.date

    @property
    def is_oci(self) -> bool:
        return self.repository.startswith("oci://")


@lru_cache(maxsize=1)
def pinned_charts() -> dict[tuple[str, str], Chart]:
    """Pinned charts by name and version, oldest version of each first."""
    found: dict[tuple[str, str], Chart] = {}
    for file, line in _lines():
        for key in (each for each in line if each not in CHART_KEYS):
            near = nearest(str(key), [each for each in CHART_KEYS if each not in line])
            fix = f"Did you mean '{near}'?" if near else f"The keys are: {', '.join(CHART_KEYS)}."
            raise CatalogError(f"{file}: {line.get('name', '?')}: {key}\n  There is no such key.\n  {fix}")
        shared = {key: value for key, value in line.items() if key not in LISTS}
        of_chart: list[Chart] = []
        for own in _versions_of(line, file):
            item = row(Chart, {**shared, **own}, f"{file}: {shared.get('name', '?')} {own.get('version', '?')}")
            if (item.name, item.version) in found:
                raise CatalogError(f"{file}: {item.name} {item.version} is a duplicate")
            found[item.name, item.version] = item
            of_chart.append(item)
        if problem := next(pin_problems(of_chart, _retracted_of(line, file)), None):
            raise CatalogError(f"{file}: {problem}")
    return found


def _versions_of(line: Mapping[str, Any], file: str) -> list[dict[str, Any]]:
    try:
        return TypeAdapter(list[dict[str, Any]]).validate_python(line.get("versions"))
    except ValidationError:
        near = nearest("versions", set(line) - {"versions"})
        fix = f"'{near}' is no key here: write" if near else "Write"
        raise CatalogError(
            f"{file}: {line.get('name', '?')}: versions\n  The chart has no list of versions.\n"
            f"  {fix} versions: and a row for each: version, known, source and date."
        ) from None


def _lines() -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows about charts, each with the name of its file for messages. Rows of the catalogue's own file come before rows
    of parts' files.
    """
    yield from read_all_rows(DATA / PINS)


def comparisons() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Comparisons of simulated charts with the original charts, from the field `compared` of the charts' rows. Each
    item consists of the file's name, the chart's name, and the comparison's row.
    """
    yield from ((file, line["name"], each) for file, line in _lines() for each in line.get("compared", ()))


def keys_file(name: str) -> Path:
    """Path of the file with the keys of a chart's values: in the catalogue, or in the folder of the part that installs
    the chart.

    Raises:
        CatalogError: There is none, or more than one.
    """
    file = f"{name}-keys.yaml"
    found = [path for path in (DATA / "charts" / file, *part_files(file)) if path.exists()]
    if len(found) == 1:
        return found[0]
    if found:
        raise CatalogError(f"{name} has more than one {file}: {', '.join(map(str, found))}")
    pins = next((label for label, line in _lines() if line.get("name") == name), PINS)
    folder = "physical_ai/catalog/data/charts/" if pins == PINS else f"{Path(pins).parent}/"
    raise CatalogError(f"{pins} pins the chart {name}, which has no {folder}{file}")


@lru_cache(maxsize=1)
def retracted_charts() -> dict[tuple[str, str], Retracted]:
    """Versions of charts that their publishers have withdrawn, by name and version."""
    return {(line["name"], item.version): item for file, line in _lines() for item in _retracted_of(line, file)}


def _retracted_of(line: Mapping[str, Any], file: str) -> list[Retracted]:
    return [row(Retracted, data, f"{file}: {line.get('name', '?')}, retracted") for data in line.get("retracted", ())]


def pin_problems(pins: Sequence[Chart], retracted: Iterable[Retracted] = ()) -> Iterator[str]:
    """Problems with the pinned versions of one chart, as texts: a withdrawn version, a pre-release, missing evidence,
    or a wrong order of release days.

    The order is wrong if a version is older than a version with a lower number; the reason may be an abandoned line. A
    patch release is exempt: it may be younger than the first release of a later line.
    """
    taken_back = {item.version: item for item in retracted}
    for pin in pins:
        title = f"{pin.name} {pin.version}"
        if item := taken_back.get(pin.version):
            yield f"{title} was retracted: {item.reason} ({item.source})"
        if re.fullmatch(r"v?\d+\.\d+\.\d+", pin.version) is None:
            yield f"{title} is not a release"
        if (pin.tag is None) != (pin.released is None):
            yield f"{title} needs both its tag and the day of it, or neither"
        if pin.known == "read" and pin.tag is None:
            yield f"{title} was read, so its tag is known"
        if pin.keys and pin.keys.version == pin.version:
            yield f"{title} has its own keys, which need no reason"
    for low, high in combinations(sorted(pins, key=lambda pin: version(pin.version)), 2):
        is_patch = version(low.version)[2:] != (0,)
        if low.released and high.released and high.released < low.released and not is_patch:
            yield (
                f"{high.name} {high.version} was released on {high.released}, before {low.version} ({low.released}): "
                "find out whether its line was given up"
            )


def chart(name: str, version: str) -> Chart:
    """The pin of a chart version.

    Raises `UnknownName` with the nearest name or version, or with the reason why the version was retracted.
    """
    found = pinned_charts().get((name, version))
    if found is not None:
        return found
    if item := retracted_charts().get((name, version)) or retracted_charts().get((name, f"v{version}")):
        raise RetractedVersion(name, item, pinned_versions(name)[-1])
    versions = pinned_versions(name)
    if not versions:
        raise UnknownName("chart", name, nearest(name, {other for other, _ in pinned_charts()}))
    near = f"v{version}" if f"v{version}" in versions else nearest(version, reversed(versions))
    raise UnknownName(f"version of the {name} chart", version, near)


def pinned_versions(name: str) -> tuple[str, ...]:
    """Pinned versions of a chart, oldest first; empty for an unknown chart."""
    return tuple(version for other, version in pinned_charts() if other == name)


def newest_chart(name: str) -> Chart:
    """The newest pinned version of a chart. Raises `UnknownName` for a chart without a pinned version."""
    versions = pinned_versions(name)
    return chart(name, versions[-1] if versions else "")
