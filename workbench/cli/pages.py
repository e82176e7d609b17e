"""The pages that come with the platform, by name, and their sections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from physical_ai.repository import DOCS, INSTALLED

OTHERS = ("agents/*/README.md", "values/README.md")
"""Pages outside of `docs`, beside what they describe."""
START = "start/"
_HEADING = re.compile(r"(#{1,6}) +(.*)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


_DIAGRAM = re.compile(r"```mermaid\n.*?accTitle: (.*?)\n.*?accDescr: (.*?)\n.*?```", re.DOTALL)
_MARK = re.compile(r"<!--.*?-->\n+", re.DOTALL)


class NoPage(Exception):
    """Error if no page or section has a name; the text says what is missing, and the nearest names."""


def pages() -> dict[str, Path]:
    """Files of the pages by name, such as `osmo` and `reference/settings`; the start pages of readers come first."""
    own = {file.relative_to(DOCS).with_suffix("").as_posix(): file for file in sorted(DOCS.rglob("*.md"))}
    beside = {
        file.relative_to(INSTALLED).with_suffix("").as_posix(): file
        for pattern in OTHERS
        for file in sorted(INSTALLED.glob(pattern))
    }
    names = sorted({**own, **beside}, key=lambda name: (not name.startswith(START), "/" in name, name))
    return {name: {**own, **beside}[name] for name in names}


def title(file: Path) -> str:
    """Title of a page: its first heading."""
    with file.open(encoding="utf-8") as lines:
        return next((found[2].strip() for line in lines if (found := _HEADING.match(line))), file.stem)


def page_text(citation: str) -> str:
    """Text of a page, or of one of its sections.

    Args:
        citation: the page's name or path, with `#` and the section's anchor for one section, as messages cite it.

    Raises:
        NoPage: there is no such page or section.
    """
    name, _, anchor = citation.partition("#")
    name = name.removeprefix("docs/").removesuffix(".md")
    known = pages()
    if name not in known:
        from physical_ai.catalog.lookup import nearest

        near = nearest(name, known)
        raise NoPage(f"there is no page '{name}'.{f' Did you mean {near!r}?' if near else ''}  All pages: physai docs")
    text = _without_diagrams(known[name].read_text(encoding="utf-8"))
    return section(text, anchor, name) if anchor else text


def _without_diagrams(text: str) -> str:
    """Text of a page for a terminal: the description of each diagram in place of its notation, and no marks."""
    return _MARK.sub("", _DIAGRAM.sub(r"*Picture: \1.* \2", text))


def section(text: str, anchor: str, name: str) -> str:
    """Text of the section of an anchor, up to the next heading of the same level.

    Args:
        text: the page.
        anchor: the anchor of a heading, or of a mark `<a id="…">` before a heading or in a table.
        name: the page's name, for the message.

    Raises:
        NoPage: the page has no such anchor.
    """
    lines = text.splitlines(keepends=True)
    headings = list(_headings(lines))
    start = next((each.line for each in headings if each.anchor == anchor), None)
    if start is None:
        start = _marked(lines, headings, anchor)
    if start is None:
        from physical_ai.catalog.lookup import nearest

        near = nearest(anchor, [each.anchor for each in headings])
        raise NoPage(f"page '{name}' has no section '{anchor}'.{f' Did you mean {near!r}?' if near else ''}")
    level = next(each.level for each in headings if each.line == start)
    end = next((each.line for each in headings if each.line > start and each.level <= level), len(lines))
    return "".join(lines[start:end])


class _Heading(NamedTuple):
    line: int
    level: int
    anchor: str


def _headings(lines: Sequence[str]) -> Iterator[_Heading]:
    seen = Counter[str]()
    is_code = False
    for number, line in enumerate(lines):
        is_code ^= line.lstrip().startswith("```")
        if not is_code and (found := _HEADING.match(line)):
            slug = _slug(found[2])
            yield _Heading(number, len(found[1]), f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1


def _marked(lines: Sequence[str], headings: Sequence[_Heading], anchor: str) -> int | None:
    """Line of the heading to which a mark belongs: the next one for a mark alone in a line, otherwise the last one."""
    mark = f'<a id="{anchor}"></a>'
    found = next((number for number, line in enumerate(lines) if mark in line), None)
    if found is None:
        return None
    if lines[found].strip() == mark:
        return next((each.line for each in headings if each.line > found), None)
    return max((each.line for each in headings if each.line < found), default=None)


def _slug(text: str) -> str:
    """Anchor of a heading, as GitHub makes it."""
    plain = _LINK.sub(r"\1", text.strip()).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
