"""Place the nodes of an acyclic graph in rows, so that arrows point down and go around boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

BEND = 14
"""The width that a passing arrow takes in a row."""
SPACE = 20
SWEEPS = 30

Node = str | tuple[str, str, int]
"""A box by its name, or the point of an arrow (from, to, row) where it passes a row."""


@dataclass
class Layout:
    """Rows of boxes and passing points, and the middle of each. Boxes stay within the limits of their band."""

    arrows: Mapping[str, set[str]]
    widths: Mapping[str, float]
    limits: Mapping[str, tuple[float, float]]
    width: float

    def __post_init__(self) -> None:
        self.row_of = rows(self.arrows)
        self.rows: list[list[Node]] = [[] for _ in range(max(self.row_of.values()) + 1)]
        self.near: dict[Node, list[Node]] = {}
        for each in sorted(self.arrows):
            self.rows[self.row_of[each]].append(each)
        for source in sorted(self.arrows):
            for target in sorted(self.arrows[source]):
                self._connect(source, target)
        self.middle: dict[Node, float] = {}
        for row in self.rows:
            for number, each in enumerate(row):
                self.middle[each] = self._limited(each, self.width * (number + 1) / (len(row) + 1))
        for sweep in range(SWEEPS):
            for row in self.rows if sweep % 2 else reversed(self.rows):
                self._settle(row)

    def path(self, source: str, target: str) -> list[Node]:
        """The nodes that an arrow goes through, with its ends."""
        between = range(self.row_of[source] + 1, self.row_of[target])
        return [source, *((source, target, row) for row in between), target]

    def _connect(self, source: str, target: str) -> None:
        chain = self.path(source, target)
        for point in chain[1:-1]:
            assert isinstance(point, tuple)
            self.rows[point[2]].append(point)
        for above, below in pairwise(chain):
            self.near.setdefault(above, []).append(below)
            self.near.setdefault(below, []).append(above)

    def _width(self, node: Node) -> float:
        return self.widths[node] if isinstance(node, str) else BEND

    def _range(self, node: Node) -> tuple[float, float]:
        """From where to where the middle of a node may be."""
        low, high = self.limits[node] if isinstance(node, str) else (0.0, self.width)
        half = self._width(node) / 2
        return low + half, high - half

    def _limited(self, node: Node, x: float) -> float:
        low, high = self._range(node)
        return min(max(x, low), high)

    def _settle(self, row: list[Node]) -> None:
        """Order a row by the positions of its neighbors, and move overlapping nodes apart."""
        near = self.near
        wish = {
            each: self._limited(each, sum(self.middle[o] for o in near[each]) / len(near[each]))
            if near.get(each)
            else self.middle[each]
            for each in row
        }
        row.sort(key=lambda each: (wish[each], str(each)))
        places = [wish[each] for each in row]
        _apart(places, [self._width(each) / 2 for each in row], [self._range(each) for each in row])
        self.middle |= dict(zip(row, places, strict=True))


def _apart(places: list[float], half: Sequence[float], ranges: Sequence[tuple[float, float]]) -> None:
    """Move neighbors apart, each pair by the same amount, until none overlap. Each stays within its range."""
    for _ in range(200):
        moved = False
        for index in range(len(places) - 1):
            lack = half[index] + half[index + 1] + SPACE - (places[index + 1] - places[index])
            if lack > 0.5:
                places[index] -= lack / 2
                places[index + 1] += lack / 2
                moved = True
        for index, (low, high) in enumerate(ranges):
            places[index] = min(max(places[index], low), high)
        if not moved:
            return


def rows(arrows: Mapping[str, set[str]]) -> dict[str, int]:
    """The row of each node from the top: one below the lowest of the nodes that import it."""
    above: dict[str, set[str]] = {each: set() for each in arrows}
    for source, targets in arrows.items():
        for target in targets:
            above[target].add(source)
    found: dict[str, int] = {}

    def row(each: str) -> int:
        if each not in found:
            found[each] = 1 + max(map(row, above[each]), default=-1)
        return found[each]

    return {each: row(each) for each in sorted(arrows)}
