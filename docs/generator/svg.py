"""Text and boxes of the drawings in `docs/img`: plain SVG, readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from workbench.cli.preview.picture import FONT, MONO, themes

LIGHT = {
    "text": "fill: #1f2328",
    ".dim": "fill: #59636e",
    ".back": "fill: #ffffff",
    ".area": "fill: #f6f8fa; stroke: #d0d7de",
    ".card": "fill: #ffffff; stroke: #afb8c1",
    ".line": "stroke: #59636e",
    ".implied": "stroke: #d0d7de",
    ".head": "fill: #59636e",
    ".blue": "stroke: #0969da",
    ".green": "stroke: #1a7f37",
    ".purple": "stroke: #8250df",
    ".red": "stroke: #cf222e",
}
DARK = {
    "text": "fill: #f0f6fc",
    ".dim": "fill: #9198a1",
    ".back": "fill: #0d1117",
    ".area": "fill: #151b23; stroke: #3d444d",
    ".card": "fill: #0d1117; stroke: #656c76",
    ".line": "stroke: #9198a1",
    ".implied": "stroke: #3d444d",
    ".head": "fill: #9198a1",
    ".blue": "stroke: #4493f8",
    ".green": "stroke: #3fb950",
    ".purple": "stroke: #ab7df8",
    ".red": "stroke: #f85149",
}

STYLE = f"""
text {{ font-family: {FONT}; font-size: 12px }}
.title {{ font-size: 14px; font-weight: 600 }} .name {{ font-weight: 600 }}
.mono {{ font-family: {MONO}; font-size: 11px }}
.middle {{ text-anchor: middle }} .end {{ text-anchor: end }}
.line, .implied {{ fill: none; stroke-width: 1.5 }} .accent {{ stroke-width: 4 }}
{themes(LIGHT, DARK)}
"""
_MARKER = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
    ' markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>'
)


@dataclass(frozen=True)
class Box:
    """A rectangle, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def document(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """A complete SVG file. The title is what a screen reader reads."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}"'
            f' viewBox="0 0 {width:g} {height:g}" role="img" aria-label={quoteattr(title)}>',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            _MARKER,
            f'<rect class="back" width="{width:g}" height="{height:g}" rx="8"/>',
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, content: str, style: str = "") -> str:
    """One line of text. `style` names classes: title, name, mono, dim, middle, end."""
    named = f' class="{style}"' if style else ""
    return f'<text x="{x:g}" y="{y:g}"{named}>{escape(content)}</text>'


def rectangle(box: Box, style: str = "card") -> str:
    """A box with round corners."""
    return f'<rect class="{style}" x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="6"/>'


def accent(box: Box, color: str) -> str:
    """A colored bar along the left edge of a box."""
    return f'<path class="accent {color}" d="M{box.x + 2:g} {box.y + 7:g}V{box.bottom - 7:g}" stroke-linecap="round"/>'


def arrow(path: str, style: str = "line") -> str:
    """A line with a head at its end. `path` is the SVG path data."""
    return f'<path class="{style}" d="{path}" marker-end="url(#arrow)"/>'
