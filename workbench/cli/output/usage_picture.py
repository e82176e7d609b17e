"""SVG drawing of GPU-hours: one bar for each workflow, or for each Pod without a workflow. The bar shows the hours that
were used, held but idle, and waited for.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from physical_ai.telemetry.usage import Usage

ROWS = 20
"""Largest number of workflows with a bar of their own; all other workflows share one bar."""
WIDTH, BAR, GAP, LEFT, RIGHT, TOP, BOTTOM = 900, 18, 8, 270, 130, 84, 34
LIGHT = {"back": "#ffffff", "text": "#1b1f24", "soft": "#5b6470", "line": "#d7dce1"}
DARK = {"back": "#181b1f", "text": "#e6e9ec", "soft": "#a0a8b1", "line": "#333a41"}
COLORS = {"busy": "#0072b2", "held": "#e69f00", "asked": "#9aa4ae"}
NAMES = {"busy": "busy", "held": "held, not busy", "asked": "asked for, not held"}
TEXT_WIDTH = 38
"""Number of characters of a workflow's name that fit beside its bar."""


class _Bar(NamedTuple):
    name: str
    asked: float
    held: float
    busy: float
    usd: float | None

    @property
    def most(self) -> float:
        return max(self.asked, self.held, self.busy)

    def parts(self) -> dict[str, float]:
        """Hours by kind, in the order of the bar's parts: busy, held but idle, and requested but not held."""
        busy = min(self.busy, self.held) if self.held else self.busy
        return {"busy": busy, "held": max(self.held - busy, 0.0), "asked": max(self.asked - self.held, 0.0)}


class NoPicture(Exception):
    """Error if the picture's file has another ending than .svg, or cannot be written; the text has the reason and what
    to write instead.
    """


def write_picture(found: Sequence[Usage], since: str, file: Path) -> None:
    """Writes the SVG drawing of the GPU-hours in `found` to a file.

    Raises:
        NoPicture: the file's name does not end with .svg, or the file cannot be written.
    """
    if file.suffix != ".svg":
        raise NoPicture(f"{file}: only SVG is drawn; write {file.with_suffix('.svg')}")
    try:
        file.write_text(picture(found, since), encoding="utf-8")
    except OSError as problem:
        raise NoPicture(f"{file}: {problem.strerror}; write the path of a file in a folder that exists") from None


def picture(found: Sequence[Usage], since: str) -> str:
    """SVG drawing of GPU-hours, a bar for each workflow. Its colours follow the viewer's light or dark theme.

    Args:
        since: Period of the GPU-hours, such as `7d`.
    """
    bars = _bars(found)
    height = TOP + BOTTOM + max(len(bars), 1) * (BAR + GAP)
    scale = (WIDTH - LEFT - RIGHT) / (max((bar.most for bar in bars), default=0.0) or 1.0)
    parts = [_head(bars, since, height)]
    if not bars:
        middle = f'x="{WIDTH // 2}" y="{TOP + BAR}" text-anchor="middle"'
        parts.append(f'<text class="soft" {middle}>no GPU-hours are recorded in the last {escape(since)}</text>')
    for index, bar in enumerate(bars):
        parts.append(_row(bar, TOP + index * (BAR + GAP), scale))
    note = "USD: list price of the hours held. A workflow that waits holds none."
    parts.append(f'<text class="soft" x="20" y="{height - 12}">{note}</text>\n</svg>\n')
    return "\n".join(parts)


def _bars(found: Sequence[Usage]) -> list[_Bar]:
    """Bars of the workflows, each summed over all pools. Workflows that held the most GPU-hours come first."""
    sums: dict[str, _Bar] = {}
    for each in found:
        name = f"{each.namespace}/{each.workflow or each.pod}"
        old = sums.get(name, _Bar(name, 0.0, 0.0, 0.0, None))
        usd = old.usd if each.usd is None else (old.usd or 0.0) + each.usd
        sums[name] = _Bar(name, old.asked + each.asked, old.held + each.held, old.busy + each.busy, usd)
    bars = sorted((bar for bar in sums.values() if bar.most > 0), key=lambda bar: (-bar.most, bar.name))
    if len(bars) <= ROWS:
        return bars
    rest = bars[ROWS - 1 :]
    prices = [bar.usd for bar in rest if bar.usd is not None]
    asked, held, busy = (sum(getattr(bar, field) for bar in rest) for field in ("asked", "held", "busy"))
    return [*bars[: ROWS - 1], _Bar(f"{len(rest)} others", asked, held, busy, sum(prices) if prices else None)]


def _head(bars: Sequence[_Bar], since: str, height: int) -> str:
    held, usd = sum(bar.held for bar in bars), sum(bar.usd or 0.0 for bar in bars)
    style = (
        f"svg{{{_variables(LIGHT)}}}@media(prefers-color-scheme:dark){{svg{{{_variables(DARK)}}}}}"
        "text{font:12px system-ui,sans-serif;fill:var(--text)}.soft{fill:var(--soft)}"
        ".title{font-size:16px;font-weight:600}.back{fill:var(--back)}.line{stroke:var(--line)}"
    )
    legend = "".join(
        f'<rect x="{20 + index * 160}" y="46" width="12" height="12" fill="{COLORS[kind]}"/>'
        f'<text x="{38 + index * 160}" y="56">{name}</text>'
        for index, (kind, name) in enumerate(NAMES.items())
    )
    title = f"GPU-hours of the last {escape(since)}: {held:,.1f} held, {usd:,.0f} USD"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">\n'
        f"<style>{style}</style>\n"
        f'<rect class="back" width="{WIDTH}" height="{height}"/>\n'
        f'<text class="title" x="20" y="28">{title}</text>\n{legend}\n'
        f'<line class="line" x1="{LEFT}" x2="{LEFT}" y1="{TOP - 6}" y2="{height - BOTTOM}"/>'
    )


def _row(bar: _Bar, top: int, scale: float) -> str:
    name = bar.name if len(bar.name) <= TEXT_WIDTH else f"…{bar.name[1 - TEXT_WIDTH :]}"
    pieces = [
        f'<text x="{LEFT - 8}" y="{top + 13}" text-anchor="end">{escape(name)}<title>{escape(bar.name)}</title></text>'
    ]
    left = float(LEFT)
    for kind, hours in bar.parts().items():
        if hours > 0:
            place = f'x="{left:.1f}" y="{top}" width="{max(hours * scale, 0.5):.1f}" height="{BAR}"'
            pieces.append(f'<rect {place} fill="{COLORS[kind]}"><title>{NAMES[kind]}: {hours:,.2f} h</title></rect>')
            left += hours * scale
    usd = "" if bar.usd is None else f" · {bar.usd:,.0f} USD"
    pieces.append(f'<text class="soft" x="{left + 6:.1f}" y="{top + 13}">{bar.most:,.1f} h{usd}</text>')
    return "\n".join(pieces)


def _variables(colors: dict[str, str]) -> str:
    return ";".join(f"--{name}:{value}" for name, value in colors.items())
