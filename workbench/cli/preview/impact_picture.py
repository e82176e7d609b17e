"""Timeline of the impact of a change as an SVG picture, readable in light and dark mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from workbench.cli.preview.picture import DARK, FONT, LIGHT, themes

WIDTH, MARGIN, LEFT, RIGHT = 860, 20, 300, 150
"""Pixels of the picture, of its edge, and of the columns of text on both sides of the time axis."""
TOP, ROW, BAR, FOOTER = 78, 26, 12, 40
ROWS = 16
"""Largest number of lines of work. Work that runs on unharmed is left out first."""
LABEL_LENGTH, NOTE_LENGTH = 44, 24
"""Characters that fit into the columns of text."""
TICKS = (1, 2, 5, 10, 15, 30, 60, 120, 240, 480)
WORST = ("ended", "restarted", "cut", "waits", "untouched")
OWN_LIGHT = {
    ".axis": "stroke: #d0d7de",
    ".sure": "fill: #cf222e",
    ".maybe": "fill: none; stroke: #cf222e",
    ".again": "fill: #1a7f37",
    ".gap": "fill: #eac54f",
    ".cutoff": "fill: #8250df",
}
OWN_DARK = {
    ".axis": "stroke: #3d444d",
    ".sure": "fill: #f85149",
    ".maybe": "fill: none; stroke: #f85149",
    ".again": "fill: #3fb950",
    ".gap": "fill: #9e6a03",
    ".cutoff": "fill: #ab7df8",
}
STYLE = f"""
text {{ font-family: {FONT}; font-size: 12px }} .title {{ font-size: 16px; font-weight: 600 }}
.small {{ font-size: 11px }} .maybe {{ stroke-dasharray: 3 2 }}
{themes({**LIGHT, **OWN_LIGHT}, {**DARK, **OWN_DARK})}
"""
LEGEND = (
    ("again", "runs"),
    ("sure", "ends, or GPUs missing"),
    ("gap", "ends or waits by then at the latest"),
    ("maybe", "may"),
    ("cutoff", "may lose connections"),
)
Impact = Mapping[str, Any]


class NoPicture(Exception):
    """Error if the picture's file has another ending than .svg, or cannot be written; the text says what to write."""


@dataclass(frozen=True)
class Line:
    """One line of the picture: a pool, or the Pods of one owner.

    Attributes:
        bars: Parts of the line as CSS class, begin and end in minutes; an end of None is the edge of the picture.
    """

    label: str
    bars: tuple[tuple[str, float, float | None], ...]
    note: str = ""


def write_picture(impact: Impact, stack: str, file: Path) -> None:
    """Writes the timeline of an impact document (`workbench.impact.telling.document`) to a file.

    Raises:
        NoPicture: the file's name does not end with .svg, or the file cannot be written.
    """
    if file.suffix != ".svg":
        raise NoPicture(f"{file}: only SVG is drawn; write {file.with_suffix('.svg')}")
    try:
        file.write_text(picture(impact, stack), encoding="utf-8")
    except OSError as problem:
        raise NoPicture(f"{file}: {problem.strerror}; write the path of a file in a folder that exists") from None


def picture(impact: Impact, stack: str) -> str:
    """Timeline of an impact document: the GPUs that are missing, and what happens to each owner of work."""
    pools = [_pool(each) for each in impact["outages"]]
    works = list(_works(impact["work"]))
    shown, hidden = works[:ROWS], len(works) - ROWS
    end = _end([*pools, *works])
    lines = [*pools, *shown]
    height = TOP + ROW * (len(lines) + (hidden > 0)) + FOOTER
    title = f"{stack}: what the change does to running work, in minutes after it begins"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
        f' role="img" aria-label={quoteattr(title)}>',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="back" width="{WIDTH}" height="{height}" rx="8"/>',
        _text(MARGIN, 28, title, "title"),
        _text(MARGIN, 46, _short(str(impact["headline"]), 130), "small"),
        *_axis(end, height - FOOTER),
    ]
    for index, line in enumerate(lines):
        parts += _line(line, TOP + ROW * index, end)
    if hidden > 0:
        parts.append(_text(MARGIN, TOP + ROW * len(lines) + 14, f"and {hidden} more", "small"))
    return "\n".join([*parts, *_legend(height), "</svg>"]) + "\n"


def _pool(outage: Mapping[str, Any]) -> Line:
    label = f"{outage['gpus']} × {outage['model'] or 'GPU'} of {outage['pool']}"
    if outage["returns"] == "never":
        return Line(label, (("sure", 0, None),), "gone")
    least, most = outage["minutes"]["least"], outage["minutes"]["most"]
    back = "may not come back" if outage["returns"] == "doubtful" else f"back: {outage['returns']}"
    last = "maybe" if outage["returns"] == "doubtful" else "again"
    how = "node by node, " if outage["oneByOne"] else ""
    return Line(label, (("sure", 0, least), ("gap", least, most), (last, most, None)), f"{how}{back}")


def _works(pods: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """Lines of the owners of Pods, worst first. The worst Pod of an owner counts."""
    owners: dict[str, list[Mapping[str, Any]]] = {}
    for pod in sorted(pods, key=lambda each: (WORST.index(each["fate"]), not each["sure"])):
        owners.setdefault(str(pod["owner"]), []).append(pod)
    for owner, members in owners.items():
        lost = sum(each["lostGpuHours"]["most"] for each in members)
        note = f"up to {lost:.2g} GPU-hours lost" if lost else ""
        label = f"{owner}, {len(members)} Pods" if len(members) > 1 else owner
        yield Line(label, tuple(_bars(members[0])), note)


def _bars(pod: Mapping[str, Any]) -> Iterator[tuple[str, float, float | None]]:
    ends, again, sure = pod["endsMinutes"], pod["runsAgainMinutes"], "sure" if pod["sure"] else "maybe"
    if pod["fate"] == "cut":
        yield "cutoff", 0, max(pod["minutes"]["most"], 1)
        yield "again", max(pod["minutes"]["most"], 1), None
    elif pod["fate"] == "waits":
        yield "gap", 0, max(again["latest"], 1)
        yield "again", max(again["latest"], 1), None
    elif ends is None:
        yield "again", 0, None
    else:
        if ends["latest"]:
            yield "gap", 0, ends["latest"]
        if again is None:
            yield sure, ends["latest"], None
            return
        if again["earliest"] > ends["latest"]:
            yield sure, ends["latest"], again["earliest"]
        if again["latest"] > max(ends["latest"], again["earliest"]):
            yield "gap", max(ends["latest"], again["earliest"]), again["latest"]
        yield "again", again["latest"], None


def _end(lines: Sequence[Line]) -> float:
    """Minutes at the right edge of the picture: a fifth more than the last time in it."""
    last = max((time for line in lines for _, begin, end in line.bars for time in (begin, end or 0)), default=0)
    return max(last * 1.2, 5.0)


def _axis(end: float, bottom: int) -> Iterator[str]:
    tick = next((each for each in TICKS if end / each <= 10), TICKS[-1])
    for index in range(int(end // tick) + 1):
        x = _x(index * tick, end)
        yield f'<line class="axis" x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{bottom}"/>'
        yield f'<text class="small" x="{x}" y="{TOP - 12}" text-anchor="middle">{index * tick}</text>'


def _line(line: Line, top: int, end: float) -> Iterator[str]:
    yield f"<g><title>{escape(f'{line.label}: {line.note}' if line.note else line.label)}</title>"
    yield _text(MARGIN, top + 14, _short(line.label, LABEL_LENGTH), "")
    for style, begin, until in line.bars:
        left, right = _x(begin, end), WIDTH - RIGHT if until is None else _x(until, end)
        if right > left:
            yield f'<rect class="{style}" x="{left}" y="{top + 4}" width="{right - left}" height="{BAR}" rx="2"/>'
    yield _text(WIDTH - RIGHT + 8, top + 14, _short(line.note, NOTE_LENGTH), "small") + "</g>"


def _legend(height: int) -> Iterator[str]:
    x = MARGIN
    for style, text in LEGEND:
        yield f'<rect class="{style}" x="{x}" y="{height - 23}" width="10" height="10" rx="2"/>'
        yield _text(x + 16, height - 14, text, "small")
        x += 40 + 6 * len(text)


def _x(minutes: float, end: float) -> int:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * min(minutes / end, 1))


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _text(x: int, y: int, text: str, style: str) -> str:
    named = f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y}"{named}>{escape(text)}</text>'
