"""docs/reference/held-against.md, generated from the rows of what was held against what."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.markdown import code, table
from physical_ai.catalog.charts import Chart, pinned_charts
from physical_ai.catalog.held_against import Held, held

_HEAD = """\
# Held against the originals

Generated from `physical_ai/catalog/data/held_against.yaml` by `python -m docs.generator`. The simulator models other
people's programs. A model that agrees with this project's own program proves nothing about them, so each was held
against its original: *run* means that both ran and what they did was compared, *rendered* that both charts were
rendered with the same values, *read* that the original's text was read, *documented* that only its documentation was.
A chart is pinned with the evidence that it exists: *seen* where a checksum or an installation was published, *read*
where its tag was read, *believed* where others name it.
"""


def document() -> str:
    """The complete page."""
    charts = table(("chart", "known", "held against", "how", "agrees", "differs", "on"), _charts())
    models = table(
        ("model", "held against", "how", "agrees", "differs", "on"),
        (_row(item) for item in held() if item.kind == "model"),
    )
    return "\n".join([_HEAD, "## Charts\n", charts, "## Models of the simulator\n", models])


def _charts() -> Iterator[tuple[str, ...]]:
    for item in held():
        for version in item.versions:
            pin = pinned_charts()[item.name, version]
            name, *rest = _row(item)
            yield (f"{name} {version}", _known(pin), *rest)


def _row(item: Held) -> tuple[str, ...]:
    differs = "; ".join(item.differs) or "–"
    return (code(item.name), f"{item.against}, {item.at}", item.how, item.agrees or "–", differs, f"{item.date}")


def _known(pin: Chart) -> str:
    return f"{pin.known}, released {pin.released}" if pin.released else pin.known
