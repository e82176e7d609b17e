"""Parses the Markdown pages of this repository: links, anchors, fenced blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^ *(```+)(.*)$")
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
_CODE = re.compile(r"(`+).+?\1")


def pages() -> list[Path]:
    """Every page of this repository: at its top, in `docs`, and beside code."""
    beside = [path for folder in ("agents", "manifests", "values") for path in (ROOT / folder).rglob("*.md")]
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *beside])


def name(page: Path) -> str:
    """Path of a page relative to the repository's root."""
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """Fenced block: its info string, its text, and the line number of its first line."""

    info: str
    text: str
    line: int


@cache
def parts(page: Path) -> tuple[tuple[str, ...], tuple[Block, ...]]:
    """Lines outside of fenced blocks, and the fenced blocks."""
    prose: list[str] = []
    blocks: list[Block] = []
    fence, info, start, inside = "", "", 0, list[str]()
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        match = _FENCE.match(line)
        if match and not fence:
            fence, info, start, inside = match[1], match[2].strip(), number + 1, []
        elif match and fence and match[1].startswith(fence) and not match[2].strip():
            blocks.append(Block(info, "\n".join(inside), start))
            fence = ""
        elif fence:
            inside.append(line)
        else:
            prose.append(line)
    return tuple(prose), tuple(blocks)


def links(page: Path) -> Iterator[str]:
    """Targets of the page's links, except links to web addresses."""
    for target in _LINK.findall(_CODE.sub("", "\n".join(parts(page)[0]))):
        if not re.match(r"[a-z]+:", target):
            yield target


@cache
def anchors(page: Path) -> frozenset[str]:
    """Anchors that GitHub generates for the page's headings, and explicit ones."""
    found: list[str] = []
    for line in parts(page)[0]:
        found += re.findall(r'<a id="([^"]+)">', line)
        if heading := re.match(r"#{1,6} +(.*)", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1].strip()).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return frozenset(found)
