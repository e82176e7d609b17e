"""docs/reference/held-against.md, generated from the rows of comparisons with originals."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.markdown import code, table
from physical_ai.catalog.charts import Chart, pinned_charts
from physical_ai.catalog.held_against import Held, held

_HEAD = """\
# Held against the originals

Generated from `compared` of the pins in `charts.yaml`, and from `physical_ai/catalog/data/held_against.yaml`, by
`python -m docs.generator`. The simulator models other
people's programs. A model that agrees with this project's own program proves nothing about them, so each was held
against its original: *run* means that both ran and what they did was compared, *rendered* that both charts were
rendered with the same values, *read* that the original's text was read, *documented* that only its documentation was.
A chart is pinned with the evidence that it exists: *seen* where a checksum or an installation was published, *read*
where its tag was read, *believed* where others name it.

*Repeated* says what of a comparison was done again after the report that it comes from, how, and at which version.
Where it says no, agreement and differences are the report's own figures, which nobody has checked since. That each
value which a stack passes has its effect in the genuine chart is tested with `tests/fixtures/charts/effects.yaml`.
"""


def document() -> str:
    """Text of the complete page."""
    charts = table(("chart", "known", "held against", "how", "agrees", "differs", "on", "repeated"), _charts())
    models, policies = (_table(kind) for kind in ("model", "policy"))
    parts = ["## Charts\n", charts, "## Models of the simulator\n", models, "## Policies\n", policies]
    return "\n".join([_HEAD, *parts])


def _table(kind: str) -> str:
    head = (kind, "held against", "how", "agrees", "differs", "on", "repeated")
    return table(head, (_row(item) for item in held() if item.kind == kind))


def _charts() -> Iterator[tuple[str, ...]]:
    for item in held():
        for version in item.versions:
            pin = pinned_charts()[item.name, version]
            name, *rest = _row(item)
            yield (f"{name} {version}", _known(pin), *rest)


def _row(item: Held) -> tuple[str, ...]:
    differs = "; ".join(item.differs) or "–"
    agrees, repeated = item.agrees or "–", item.repeated or "no"
    return (code(item.name), f"{item.against}, {item.at}", item.how, agrees, differs, f"{item.date}", repeated)


def _known(pin: Chart) -> str:
    return f"{pin.known}, released {pin.released}" if pin.released else pin.known
