"""Comparisons of the simulator's models with the programs that they imitate, and of policies with their originals.
docs/reference/held-against.md lists them.
"""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import StringConstraints

from physical_ai.catalog.charts import comparisons
from physical_ai.catalog.load import DATA, read_rows, row
from physical_ai.catalog.rows import Row, Text

FILE = DATA / "held_against.yaml"


class Held(Row):
    """One comparison of a simulator's model or a policy with its original."""

    subject: Annotated[str, StringConstraints(pattern=r"^(chart [a-z0-9-]+|model [a-z0-9_]+|policy [a-z0-9-]+)$")]
    """Subject of the comparison: `chart` and its name, `model` and its folder in `simulator`, or `policy` and its
    name.
    """
    versions: tuple[Text, ...] = ()
    """Versions of a chart; empty for a model of the simulator, which has no version of its own."""
    against: Text
    """The original that the subject is compared with: a repository and folder, or programs."""
    at: Text
    """Tag, commit or release of the original."""
    how: Literal["run", "rendered", "read", "documented", "nothing"]
    """Kind of comparison.

    `run`: both ran.
    `rendered`: both were rendered with the same values.
    `read`: the original's text was read.
    `documented`: only the original's documentation was read.
    `nothing`: nothing was compared yet.
    """
    agrees: Text | None = None
    """The compared values, and how many of them are equal."""
    differs: tuple[Text, ...] = ()
    """Known differences."""
    date: datetime.date
    repeated: Text | None = None
    """Part of the comparison that this project itself has repeated, with the method and the version. None if another
    project's report is the source of the figures in `agrees`.
    """

    @property
    def kind(self) -> str:
        return self.subject.partition(" ")[0]

    @property
    def name(self) -> str:
        return self.subject.partition(" ")[2]


@lru_cache(maxsize=1)
def held() -> tuple[Held, ...]:
    """All comparisons: first the comparisons of charts, in the order of their pins, then the comparisons of the
    simulator's models and of policies.
    """
    charts = ((file, {"subject": f"chart {name}", **data}) for file, name, data in comparisons())
    others = ((FILE.name, data) for data in read_rows(FILE))
    return tuple(row(Held, data, f"{file}: {data.get('subject')}") for file, data in (*charts, *others))
