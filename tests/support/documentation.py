"""The Markdown pages of this repository as the tests read them: links, anchors, shell blocks."""

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
    """Every page that is ours to keep right: README and its like, `docs`, and the pages beside code."""
    beside = [path for folder in ("agents", "manifests", "values") for path in (ROOT / folder).rglob("*.md")]
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *beside])


def name(page: Path) -> str:
    """The page's path below the root."""
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """A fenced block: what its fence says, its text, and the line on which that begins."""

    info: str
    text: str
    line: int


@cache
def parts(page: Path) -> tuple[tuple[str, ...], tuple[Block, ...]]:
    """The page's lines without fenced blocks, and these."""
    prose: list[str] = []
    blocks: list[Block] = []
    fence, info, start, inside = "", "", 0, list[str]()
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        found = _FENCE.match(line)
        if found and not fence:
            fence, info, start, inside = found[1], found[2].strip(), number + 1, []
        elif found and fence and found[1].startswith(fence) and not found[2].strip():
            blocks.append(Block(info, "\n".join(inside), start))
            fence = ""
        elif fence:
            inside.append(line)
        else:
            prose.append(line)
    return tuple(prose), tuple(blocks)


def links(page: Path) -> Iterator[str]:
    """Targets of the page's links, but for those to the web."""
    for target in _LINK.findall(_CODE.sub("", "\n".join(parts(page)[0]))):
        if not re.match(r"[a-z]+:", target):
            yield target


@cache
def anchors(page: Path) -> frozenset[str]:
    """Anchors that GitHub makes of the page's headings, and those written out."""
    found: list[str] = []
    for line in parts(page)[0]:
        found += re.findall(r'<a id="([^"]+)">', line)
        if heading := re.match(r"#{1,6} +(.*)", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1].strip()).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return frozenset(found)
