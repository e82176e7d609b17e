"""Rates and durations with their ranges and sources (rates.yaml), and values from the command line or the cluster."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from physical_ai.catalog.load import read_rows, row
from physical_ai.catalog.row import Row, Text
from physical_ai.input_errors import InputError

FILE = Path(__file__).with_name("rates.yaml")
Value = Literal["low", "likely", "high"]


class BadAssumption(InputError):
    """Error for a value on the command line that names no rate, or is no number in the rate's range."""


class Rate(Row):
    """A rate or duration: three values in one unit. rates.yaml explains the fields."""

    name: Text
    unit: Text
    low: float = Field(ge=0)
    likely: float = Field(ge=0)
    high: float = Field(ge=0)
    believed: tuple[Value, ...] = ()
    says: Text
    source: Text
    date: datetime.date

    @model_validator(mode="after")
    def _in_order(self) -> Rate:
        if not self.low <= self.likely <= self.high:
            raise ValueError("low, likely and high have to be in this order")
        return self

    @property
    def read(self) -> bool:
        """True if the likely value has a source; False for an estimate of this project."""
        return "likely" not in self.believed

    def drawn(self, randomly: random.Random) -> float:
        """A value of the range: triangular, of the logarithms where no value is zero."""
        if self.low == self.high:
            return self.likely
        if self.low > 0:
            low, likely, high = (math.log(each) for each in (self.low, self.likely, self.high))
            return math.exp(randomly.triangular(low, high, likely))
        return randomly.triangular(self.low, self.high, self.likely)


Rates = Mapping[str, Rate]


@lru_cache(maxsize=1)
def known_rates() -> Rates:
    """All rows of rates.yaml by name."""
    rows = (row(Rate, each, f"{FILE.name}: {each.get('name')}") for each in read_rows(FILE))
    return {each.name: each for each in rows}


def assumed(rates: Rates, assignments: Iterable[str], today: datetime.date) -> dict[str, Rate]:
    """The rates with values from the command line, each `NAME=VALUE` or `NAME=LOW..HIGH`.

    Raises:
        BadAssumption: the name is no rate, or the value is no number.
    """
    found = dict(rates)
    for text in assignments:
        name, equals, value = text.partition("=")
        known = found.get(name)
        if known is None or not equals:
            names = ", ".join(sorted(rates))
            raise BadAssumption(f"--assume {text}: write NAME=VALUE or NAME=LOW..HIGH; the names are {names}")
        low, high = _range(text, value, known)
        found[name] = known.model_copy(
            update={
                "low": low,
                "likely": math.sqrt(low * high) if low > 0 else (low + high) / 2,
                "high": high,
                "believed": (),
                "source": "the command line",
                "date": today,
            }
        )
    return found


def _range(text: str, value: str, known: Rate) -> tuple[float, float]:
    first, dots, second = value.partition("..")
    try:
        low, high = float(first), float(second if dots else first)
    except ValueError:
        low, high = math.nan, math.nan
    if not (0 <= low <= high < math.inf) or ("share" in known.unit and high > 1):
        most = " of at most 1" if "share" in known.unit else ""
        raise BadAssumption(
            f"--assume {text}: '{value}' is not a number{most}, or a range like 0.5..2; the unit is: {known.unit}"
        )
    return low, high
