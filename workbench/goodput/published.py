"""Published runs of training, against the model: published.yaml, and the model's value for each."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from physical_ai.catalog.load import read_rows, row
from physical_ai.catalog.row import Row, Text
from workbench.goodput.estimate import Figure, Values, draws, figure
from workbench.goodput.model import Fleet, best_interval, rework, share
from workbench.goodput.pools import PoolLoad, fleet, with_new_node
from workbench.goodput.rates import Rates, known_rates

FILE = Path(__file__).with_name("published.yaml")
WEEKS = 8 * 7 * 24.0
"""Hours of a run, where nothing but their being many counts."""
Range = tuple[float, float]


class Run(Row):
    """A published run. published.yaml explains the fields."""

    name: Text
    title: Text
    nodes: int = Field(ge=1)
    gpus: int = Field(ge=1)
    job_gpus: int | None = None
    given: dict[str, float]
    how: Text
    assumed: dict[str, Range]
    checkpoint: float | None = None
    measure: Literal["useful", "rework", "mttf"]
    published: Range
    agrees: bool = True
    """False for a figure that the model is known not to reproduce; `how` has the reason."""
    says: Text
    source: Text
    date: datetime.date


@dataclass(frozen=True)
class Compared:
    """A published run, and the model's value for it."""

    run: Run
    model: Figure

    @property
    def agrees(self) -> bool:
        """True if the published range and the model's interval overlap."""
        low, high = self.run.published
        return low <= self.model.high and self.model.low <= high


@lru_cache(maxsize=1)
def runs() -> tuple[Run, ...]:
    """All rows of published.yaml."""
    return tuple(row(Run, each, f"{FILE.name}: {each.get('name')}") for each in read_rows(FILE))


def compared(run: Run) -> Compared:
    """The model's value for a published run, with the interval from the assumed ranges."""
    rates = _rates(run)
    return Compared(run, figure(lambda values: _measured(run, values), rates, draws(rates)))


def _rates(run: Run) -> Rates:
    found = with_new_node(known_rates())
    ranges = {**{name: (value, value) for name, value in run.given.items()}, **run.assumed}
    for name, (low, high) in ranges.items():
        middle = (low * high) ** 0.5 if low > 0 else (low + high) / 2
        found[name] = found[name].model_copy(update={"low": low, "likely": middle, "high": high})
    return found


def _measured(run: Run, values: Values) -> float:
    given = _fleet(run, values)
    if run.measure == "mttf":
        return 1 / given.ends
    if run.measure == "rework":
        return rework(given)
    return share(given).of_wanted


def _fleet(run: Run, values: Values) -> Fleet:
    """The run as one job on all its nodes. Runs of this size have spare nodes, so no job waits for a repair."""
    gpus = run.job_gpus or run.nodes * run.gpus
    checkpoint = None if run.checkpoint is None else run.checkpoint / 60
    load = PoolLoad(run.name, "", run.nodes, run.gpus, 1, gpus, WEEKS, checkpoint or 1.0)
    found = replace(fleet(load, values), repair=0.0)
    return replace(found, checkpoint=checkpoint or best_interval(found))
