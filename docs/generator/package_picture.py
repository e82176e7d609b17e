"""docs/img/packages.svg: the packages of this repository and the imports between them."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.graph_layout import Layout
from docs.generator.packages import ENTRY, Checkout, cycles, implied, read
from docs.generator.svg import Box, accent, arrow, document, rectangle, text
from physical_ai.repository import ROOT

WIDTH, MARGIN, TOP = 880, 16, 62
ROW, LINES_ROW = 36, 52
GAP = 40
PROGRAM = (8.0, 350.0)
WORKBENCH = (382.0, float(WIDTH - 2 * MARGIN - 8))
"""The horizontal limits of the boxes in each band, inside the margin."""


def packages() -> str:
    """The drawing of this repository, without line counts, which change with every commit."""
    return picture(read(ROOT), with_lines=False)


def picture(checkout: Checkout, *, with_lines: bool) -> str:
    """The drawing of a checkout: importing packages above imported ones, the program left, the workbench right.

    An arrow that others imply is left out.

    Raises:
        ValueError: Packages import each other.
    """
    if found := cycles(checkout.arrows):
        raise ValueError(f"packages import each other: {found}")
    follows = implied(checkout.arrows)
    arrows = {each: {o for o in targets if (each, o) not in follows} for each, targets in checkout.arrows.items()}
    layout = Layout(
        arrows,
        {each: max(84.0, 7.4 * len(label(each)) + 32) for each in arrows},
        {each: PROGRAM if each in checkout.program else WORKBENCH for each in arrows},
        WIDTH - 2 * MARGIN,
    )
    height = LINES_ROW if with_lines else ROW
    bottom = TOP + len(layout.rows) * (height + GAP) - GAP
    parts = [*_bands(bottom), *_arrows(layout, height)]
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
    return f"{package}.py" if package == ENTRY else package


def _bands(bottom: float) -> Iterator[str]:
    for (low, high), title in (
        (PROGRAM, "What pulumi up imports"),
        (WORKBENCH, "The workbench, and agents"),
    ):
        box = Box(MARGIN + low - 8, 12, high - low + 16, bottom + 8)
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
