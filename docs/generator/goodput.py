"""docs/reference/goodput.md, generated from the rates of goodput and from published runs."""

from __future__ import annotations

from docs.generator.markdown import code, table
from physical_ai.repository import ROOT
from workbench.goodput.estimate import Figure
from workbench.goodput.pools import with_new_node
from workbench.goodput.published import Run, compared, runs
from workbench.goodput.rates import known_rates

FILE = ROOT / "docs" / "reference" / "goodput.md"
_HEAD = """\
# Goodput: rates, and published runs

Generated from `workbench/goodput/rates.yaml` and `published.yaml` by `python -m docs.generator`.
[Goodput](../goodput.md) says how they are used.
"""
_RATES = """\
## Rates

`--assume NAME=VALUE` replaces one. A value in the column "believed" is an estimate of this project; the others
were read in the source, or in a quotation of it.
"""
_RUNS = """\
## Published runs

The model's value is at the middle of the ranges, with its interval in brackets. What a source does not publish is
assumed, as a range; agreement means that the published value is inside of the interval, and not that the assumption is
true.
"""
_MEASURES = {"useful": "useful share", "rework": "hours lost by an interruption", "mttf": "hours to a failure"}


def document() -> str:
    """Text of the complete page."""
    return "\n".join([_HEAD, _RATES, _rates(), _RUNS, _runs()])


def _rates() -> str:
    rows = [
        [
            code(name),
            rate.says,
            rate.unit,
            *(f"{value:g}" for value in (rate.low, round(rate.likely, 2), rate.high)),
            ", ".join(rate.believed) or "–",
            f"{rate.source} ({rate.date})",
        ]
        for name, rate in sorted(with_new_node(known_rates()).items())
    ]
    return table(["name", "what", "unit", "low", "likely", "high", "believed", "source"], rows)


def _runs() -> str:
    rows: list[list[str]] = []
    for run in runs():
        found = compared(run)
        rows.append(
            [run.title, run.says, _MEASURES[run.measure], _model(found.model, run), "yes" if found.agrees else "no",
             run.how, _assumed(run), f"{run.source} ({run.date})"]
        )  # fmt: skip
    head = ["run", "published", "measure", "model", "agrees", "from", "assumed", "source"]
    return table(head, rows)


def _model(figure: Figure, run: Run) -> str:
    scale, unit, form = (100, " %", ".1f") if run.measure == "useful" else (1, "", ".2f")
    low, high = (f"{each * scale:{form}}" for each in (figure.low, figure.high))
    value = f"{figure.value * scale:{form}}{unit}"
    return value if low == high else f"{value} ({low} to {high})"


def _assumed(run: Run) -> str:
    ranges = [f"{name} {low:g} to {high:g}" for name, (low, high) in sorted(run.assumed.items()) if low < high]
    if run.measure == "useful":
        every = "the best interval" if run.checkpoint is None else f"a checkpoint every {run.checkpoint:g} minutes"
        ranges = [every, *ranges]
    return "; ".join(ranges) or "–"
