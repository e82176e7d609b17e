"""docs/img/packages.svg: the packages of this repository and the imports between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from docs.generator.graph_layout import SPACE, Layout, rows
from docs.generator.packages import ENTRY, TOGETHER, Checkout, cycles, implied, read
from docs.generator.svg import Box, accent, arrow, document, rectangle, text
from physical_ai.repository import ROOT

WIDTH, MARGIN, TOP = 880, 16, 62
ROW, LINES_ROW = 36, 52
GAP = 40
PADDING, BETWEEN = 8, 32
"""Room between a band's border and its boxes, and between the boxes of two bands."""

TITLE = 190.0
"""Room for the title of a band."""

Limits = tuple[float, float]
"""The horizontal limits of the boxes of a band, within the margin."""


def packages() -> str:
    """The drawing of this repository, without line counts, which change with every commit."""
    return picture(read(ROOT), with_lines=False)


def picture(checkout: Checkout, *, with_lines: bool) -> str:
    """The drawing of a checkout: importing packages above imported ones, the program left, the workbench right.

    An arrow that others imply is left out.

    Raises:
        ValueError: Packages import each other.
    """
    if found := cycles(checkout.floors):
        raise ValueError(f"packages import each other: {found}")
    follows = implied(checkout.floors)
    arrows = {each: {o for o in targets if (each, o) not in follows} for each, targets in checkout.floors.items()}
    widths = {each: max(84.0, 7.4 * len(label(each)) + 32) for each in arrows}
    program, workbench = _limits(rows(arrows), widths, checkout.program & arrows.keys())
    limits = {each: program if each in checkout.program else workbench for each in arrows}
    layout = Layout(arrows, widths, limits, WIDTH - 2 * MARGIN)
    height = LINES_ROW if with_lines else ROW
    bottom = TOP + len(layout.rows) * (height + GAP) - GAP
    parts = [*_bands(program, workbench, bottom), *_arrows(layout, height)]
    for name, number in layout.row_of.items():
        width = layout.widths[name]
        box = Box(round(MARGIN + layout.middle[name] - width / 2), TOP + number * (height + GAP), width, height)
        parts += [rectangle(box), *([accent(box, "blue")] if name in checkout.program else [])]
        parts.append(text(box.middle, box.y + 22, label(name), "name middle"))
        if with_lines:
            parts.append(text(box.middle, box.y + 40, f"{checkout.lines(name):,} lines", "dim middle"))
    return document(WIDTH, bottom + 32, "Packages and the imports between them", parts)


def label(package: str) -> str:
    """The package as the drawing names it."""
    others = [each for each, other in TOGETHER.items() if other == package]
    if others:
        return ", ".join((package, *others))
    return f"{package}.py" if package == ENTRY else package


def _limits(row_of: Mapping[str, int], widths: Mapping[str, float], program: Set[str]) -> tuple[Limits, Limits]:
    """The limits of both bands, wide enough for their widest rows. The rest of the width is shared in proportion."""

    def need(names: Set[str]) -> float:
        each_row = [[widths[name] for name in names if row_of[name] == row] for row in set(row_of.values())]
        return max(TITLE, *(sum(row) + SPACE * (len(row) - 1) for row in each_row))

    left, right = need(program), need(widths.keys() - program)
    share = (WIDTH - 2 * MARGIN - 2 * PADDING - BETWEEN) / (left + right)
    middle = PADDING + left * share
    return (PADDING, middle), (middle + BETWEEN, WIDTH - 2 * MARGIN - PADDING)


def _bands(program: Limits, workbench: Limits, bottom: float) -> Iterator[str]:
    for (low, high), title in (
        (program, "What pulumi up imports"),
        (workbench, "The workbench, and agents"),
    ):
        box = Box(MARGIN + low - PADDING, 12, high - low + 2 * PADDING, bottom + 8)
        yield rectangle(box, "area")
        yield text(box.x + 14, 36, title, "title")


def _arrows(layout: Layout, height: float) -> Iterator[str]:
    for source in sorted(layout.arrows):
        for target in sorted(layout.arrows[source]):
            yield arrow(_path(layout, source, target, height))


def _path(layout: Layout, source: str, target: str, height: float) -> str:
    """Down from box to box: a curve in each gap between rows, a straight line where the arrow passes a row."""
    nodes = layout.path(source, target)
    x = MARGIN + layout.middle[source]
    y = TOP + layout.row_of[source] * (height + GAP) + height
    path = f"M{x:.0f} {y:g}"
    for node in nodes[1:]:
        next_x = MARGIN + layout.middle[node]
        last = node == target
        end = y + GAP - (1 if last else 0)
        path += f"C{x:.0f} {y + GAP / 2:g} {next_x:.0f} {y + GAP / 2:g} {next_x:.0f} {end:g}"
        x, y = next_x, y + GAP + height
        if not last:
            path += f"V{y:g}"
    return path
