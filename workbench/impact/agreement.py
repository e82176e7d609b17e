"""Agreement of predicted impacts with what then happened in the simulator, cell by cell: a change, and one Pod."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from physical_ai.catalog.load import read_mapping, read_rows

FILE = Path(__file__).with_name("agreement.yaml")
REASONS = Path(__file__).with_name("agreement_reasons.yaml")
UNSEEN = ("cut", "waits")
"""Fates that no running Pod shows: its connections, and Pods that do not exist yet, are not observed. The Pod itself
has to run on.
"""


@dataclass(frozen=True)
class Cell:
    """One prediction and what happened.

    Attributes:
        kind: Kind of the work.
        work: Name of the Pod, or of its Deployment.
        fate: Predicted fate.
        sure: True if the prediction was certain.
        seen: Observed fate: `untouched`, `restarted` or `ended`.
    """

    change: str
    kind: str
    work: str
    fate: str
    sure: bool
    seen: str

    @property
    def agrees(self) -> bool:
        """True if what happened is what was predicted. A prediction that is only possible may also not come true."""
        expected = {"untouched"} if self.fate in UNSEEN else {self.fate}
        if not self.sure:
            # Work that may keep running on a node whose upgrade fails may also end.
            expected |= {"restarted", "ended"} if self.fate == "untouched" else {"untouched"}
        return self.seen in expected

    @property
    def text(self) -> str:
        said = f"{'' if self.sure else 'may '}{self.fate}"
        return said if self.agrees and self.sure else f"{said} → {self.seen}"


@dataclass(frozen=True)
class Difference:
    """A cell whose prediction did not come true, and why; without a reason if none is known."""

    cell: Cell
    reason: str


@dataclass(frozen=True)
class Agreement:
    """Count of the cells."""

    cells: int
    sure: int
    agreeing: int
    differences: tuple[Difference, ...]

    @property
    def share(self) -> float:
        return self.agreeing / self.cells if self.cells else 0.0

    @property
    def text(self) -> str:
        """The count as one sentence, and a line for each difference."""
        head = (
            f"{self.agreeing} of {self.cells} predictions came true ({self.share:.1%}); {self.sure} of them were"
            f" certain, {self.cells - self.sure} possible"
        )
        lines = [f"  {each.cell.change}, {each.cell.work}: {each.cell.text}" for each in self.differences]
        return "\n".join([head, *lines])


def agreement(cells: Sequence[Cell], reasons: Mapping[tuple[str, str], str] | None = None) -> Agreement:
    """Count of the cells. `reasons`: why a prediction does not come true, by change and Pod; those of the file
    agreement_reasons.yaml if None.
    """
    known = read_reasons() if reasons is None else reasons
    differences = [Difference(each, known.get((each.change, each.work), "")) for each in cells if not each.agrees]
    return Agreement(len(cells), sum(each.sure for each in cells), len(cells) - len(differences), tuple(differences))


def read_cells(file: Path = FILE) -> tuple[list[Cell], dict[str, str]]:
    """Cells of the last run that was recorded, and the title of each kind of work."""
    document: Any = read_mapping(file)
    return [Cell(*each) for each in document["cells"]], dict(document["kinds"])


def read_reasons(file: Path = REASONS) -> dict[tuple[str, str], str]:
    """Reasons of differences that are known, by change and Pod."""
    return {(str(each["change"]), str(each["work"])): str(each["reason"]) for each in read_rows(file)}


def grid(cells: Iterable[Cell]) -> tuple[list[str], dict[str, list[str]]]:
    """Names of the Pods, and for each change the text of each Pod's cell."""
    given = list(cells)
    works = list(dict.fromkeys(each.work for each in given))
    rows: dict[str, dict[str, str]] = {}
    for each in given:
        rows.setdefault(each.change, {})[each.work] = each.text
    return works, {change: [found.get(work, "–") for work in works] for change, found in rows.items()}


def table(cells: Sequence[Cell]) -> str:
    """The cells as text: a line for each change, a column for each Pod, and the count below."""
    works, rows = grid(cells)
    lines = [["change", *works], *([change, *found] for change, found in rows.items())]
    widths = [max(len(line[index]) for line in lines) for index in range(len(works) + 1)]
    text = ["  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join(["", *text, agreement(cells).text])
