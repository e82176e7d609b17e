"""What models of charts, of the simulator and of standards were held against: docs/reference/held-against.md."""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import StringConstraints

from physical_ai.catalog.load import DATA, read_rows, row
from physical_ai.catalog.rows import Row, Text

FILE = DATA / "held_against.yaml"


class Held(Row):
    """One comparison of a model with its original."""

    subject: Annotated[str, StringConstraints(pattern=r"^(chart [a-z0-9-]+|model [a-z0-9_]+|policy [a-z0-9-]+)$")]
    """`chart` and its name, `model` and its folder in `simulator`, or `policy` and its name."""
    versions: tuple[Text, ...] = ()
    """Of a chart. A model of the simulator has none of its own."""
    against: Text
    """The original: repository and folder, or programs."""
    at: Text
    """Its tag, commit or release."""
    how: Literal["run", "rendered", "read", "documented", "nothing"]
    """Both ran; both were rendered with the same values; its text was read; its documentation was; nothing was."""
    agrees: Text | None = None
    """What was compared, and how much of it is equal."""
    differs: tuple[Text, ...] = ()
    """What is known to differ."""
    date: datetime.date
    repeated: Text | None = None
    """What of it this project did again: how, and at which version. Absent: the figure is a report's own."""

    @property
    def kind(self) -> str:
        return self.subject.partition(" ")[0]

    @property
    def name(self) -> str:
        return self.subject.partition(" ")[2]


@lru_cache(maxsize=1)
def held() -> tuple[Held, ...]:
    """Every row, in the order of the file."""
    return tuple(row(Held, data, f"{FILE.name}: {data.get('subject')}") for data in read_rows(FILE))
