"""Data files of optional parts that cannot be read, as faults with file and key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from parts.part import Part
from physical_ai.catalog.chart_images import chart_images
from physical_ai.catalog.charts import pinned_charts
from physical_ai.catalog.compat.needs import needs
from physical_ai.catalog.compat.tables import keys_read, switches
from physical_ai.catalog.definitions import remaining
from physical_ai.catalog.held_against import held
from physical_ai.catalog.load import CatalogError
from physical_ai.planning import manifests
from physical_ai.repository import part_files
from physical_ai.settings.faults import Fault, fault

HEAD = re.compile(r"(.+?\.[a-z]+)(?::(\d+))?: (.*)")
"""Expression for the first line of an error. Its groups are the file, the line number, and a third text: the path in
the file, or the problem.
"""


def unread_files(parts: Sequence[Part]) -> Iterator[Fault]:
    """Faults of files that are not YAML, or whose rows or objects have another form."""
    readings: list[Callable[[], object]] = [
        pinned_charts,
        chart_images,
        remaining,
        held,
        needs,
        partial(switches, ""),
        manifests.isolation,
        *(partial(manifests.namespaces_of, part.name) for part in parts),
        *(partial(_read_keys, chart) for part in parts for chart in part.charts),
    ]
    texts: dict[str, None] = {}
    for read in readings:
        try:
            read()
        except CatalogError as error:
            texts |= dict.fromkeys(re.split(r"\n(?! )", str(error)))
    yield from map(as_fault, texts)


def _read_keys(chart: str) -> None:
    """Reads a chart's keys, if a part has a file with them. `part_files` reports a chart without such a file."""
    if part_files(f"{chart}-keys.yaml"):
        keys_read(chart)


def as_fault(text: str) -> Fault:
    """Fault made from the text of a `CatalogError`. The text has the file and the path in it in the first line, then
    the problem, then what to write.
    """
    head, *lines = (line.strip() for line in text.splitlines())
    match = HEAD.fullmatch(head)
    file, line, place = match.groups() if match else ("parts", None, head)
    problem, fix = (lines[0], " ".join(lines[1:])) if lines else (place, "")
    return fault(file, place if lines else "form", problem, fix or None, line=int(line) if line else None)
