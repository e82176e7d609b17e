"""Timeline of the impact of a change as an SVG picture, readable in light and dark mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from workbench.cli.preview.picture import DARK, FONT, LIGHT, themes

WIDTH, MARGIN = 460, 16
"""Pixels of the picture and of its edge. It is narrow, and text stands above its bar, so that a phone shows it without
making the text smaller.
"""
LINE, ROW, BAR, BAR_AT = 16, 52, 12, 32
"""Pixels of a line of text, of a line of the picture, of its bar, and from the line's top to its bar."""
ROWS = 16
"""Largest number of lines of work. Work that runs on unharmed is left out first."""
LABEL_LENGTH, TEXT_LENGTH = 62, 76
"""Characters that fit into the picture's width, in the larger and in the smaller size."""
TICKS = (1, 2, 5, 10, 15, 30, 60, 120, 240, 480)
MOST_TICKS = 8
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
.small {{ font-size: 11.5px }} .strong {{ font-weight: 600 }} .maybe {{ stroke-dasharray: 3 2 }}
{themes({**LIGHT, **OWN_LIGHT}, {**DARK, **OWN_DARK})}
"""
LEGEND = {
    "again": "runs, or GPUs are there",
    "sure": "has ended, or GPUs are missing",
    "gap": "ends, or is back, at some time in here",
    "maybe": "may have ended, or may not come back",
    "cutoff": "may lose connections",
}
"""Meaning of each kind of bar, by its CSS class."""
BACK = {"certain": "all come back", "likely": "likely to come back", "doubtful": "may not come back"}
"""Prospect that missing GPUs come back, in words."""
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
    note: str


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
    title = f"{stack}: what the change does to running work"
    head = [*_paragraph(title, "title", 48), *_paragraph(str(impact["headline"]), "small", TEXT_LENGTH)]
    top = 14 + LINE * (len(head) + 2) + 12
    bottom = top + ROW * len(lines)
    legend = [style for style in LEGEND if any(style == bar[0] for line in lines for bar in line.bars)]
    height = bottom + LINE * (len(legend) + (hidden > 0) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
        f' role="img" aria-label={quoteattr(title)}>',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="back" width="{WIDTH}" height="{height}" rx="8"/>',
        *(_text(MARGIN, 28 + LINE * index, text, style) for index, (text, style) in enumerate(head)),
        *_axis(end, top, bottom - 4),
    ]
    for index, line in enumerate(lines):
        parts += _line(line, top + ROW * index, end)
    if hidden > 0:
        parts.append(_text(MARGIN, bottom + 12, f"and {hidden} more", "small"))
    below = bottom + LINE * (hidden > 0) + 4
    return "\n".join([*parts, *_legend(legend, below), "</svg>"]) + "\n"


def _paragraph(text: str, style: str, length: int) -> list[tuple[str, str]]:
    return [(line, style) for line in wrap(text, length)]


def _pool(outage: Mapping[str, Any]) -> Line:
    label = f"{outage['gpus']} × {outage['model'] or 'GPU'} of {outage['pool']}"
    if outage["returns"] == "never":
        return Line(label, (("sure", 0, None),), "gone")
    least, most = outage["minutes"]["least"], outage["minutes"]["most"]
    doubtful = outage["returns"] == "doubtful"
    how = "node by node, " if outage["oneByOne"] else ""
    bars = (("sure", 0, least), ("gap", least, most), ("maybe" if doubtful else "again", most, None))
    return Line(label, bars, f"missing {how}for {least:g} to {most:g} minutes; {BACK[outage['returns']]}")


def _works(pods: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """Lines of the owners of Pods, worst first. The worst Pod of an owner counts."""
    owners: dict[str, list[Mapping[str, Any]]] = {}
    for pod in sorted(pods, key=lambda each: (WORST.index(each["fate"]), not each["sure"])):
        owners.setdefault(str(pod["owner"]), []).append(pod)
    for owner, members in owners.items():
        lost = sum(each["lostGpuHours"]["most"] for each in members)
        label = f"{owner}, {len(members)} Pods" if len(members) > 1 else owner
        note = f"{_told(members[0])}; up to {_number(lost)} GPU-hours lost" if lost else _told(members[0])
        yield Line(label, tuple(_bars(members[0])), note)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")


def _told(pod: Mapping[str, Any]) -> str:
    """The line's bars in words."""
    ends, again, sure = pod["endsMinutes"], pod["runsAgainMinutes"], pod["sure"]
    if pod["fate"] == "cut":
        return f"may lose connections for up to {_number(pod['minutes']['most'])} minutes"
    if pod["fate"] == "waits":
        return f"waits, at most until minute {_number(again['latest'])}"
    if ends is None:
        return "runs on" if sure else "runs on, on a node whose upgrade may fail"
    when = f"by minute {_number(ends['latest'])}" if ends["latest"] else "at once"
    back = f", and runs again by minute {_number(again['latest'])}" if again is not None else ""
    return f"{'ends' if sure else 'may end'} {when}{back}"


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


def _axis(end: float, top: int, bottom: int) -> Iterator[str]:
    tick = next((each for each in TICKS if end / each <= MOST_TICKS), TICKS[-1])
    yield _text(MARGIN, top - 12 - LINE, "minutes after the change begins", "small")
    for index in range(int(end // tick) + 1):
        x = _x(index * tick, end)
        yield f'<line class="axis" x1="{x}" x2="{x}" y1="{top - 8}" y2="{bottom}"/>'
        anchor = "middle" if index else "start"
        yield f'<text class="small" x="{x}" y="{top - 12}" text-anchor="{anchor}">{index * tick}</text>'


def _line(line: Line, top: int, end: float) -> Iterator[str]:
    yield f"<g><title>{escape(f'{line.label}: {line.note}')}</title>"
    yield f'<rect class="back" x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{BAR_AT - 2}"/>'
    yield _text(MARGIN, top + 12, _short(line.label, LABEL_LENGTH), "strong")
    yield _text(MARGIN, top + 26, _short(line.note, TEXT_LENGTH), "small")
    for style, begin, until in line.bars:
        left, right = _x(begin, end), WIDTH - MARGIN if until is None else _x(until, end)
        if right > left:
            place = f'x="{left}" y="{top + BAR_AT}" width="{right - left}" height="{BAR}" rx="2"'
            yield f'<rect class="{style}" {place}/>'
    yield "</g>"


def _legend(styles: Sequence[str], top: int) -> Iterator[str]:
    for index, style in enumerate(styles):
        y = top + LINE * index
        yield f'<rect class="{style}" x="{MARGIN}" y="{y}" width="10" height="10" rx="2"/>'
        yield _text(MARGIN + 16, y + 9, LEGEND[style], "small")


def _x(minutes: float, end: float) -> int:
    return round(MARGIN + (WIDTH - 2 * MARGIN) * min(minutes / end, 1))


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _text(x: int, y: int, text: str, style: str) -> str:
    named = f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y}"{named}>{escape(text)}</text>'
