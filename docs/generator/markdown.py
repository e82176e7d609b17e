"""The Markdown elements of the generated pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

END = "<!-- end -->"
_CODE = re.compile(r"(`[^`]*`)")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Text of a table. In cells, `|` is escaped, `<` outside of code as well, and a line break becomes a space."""
    lines = [_line(head), "|" + "---|" * len(head), *(_line([_cell(text) for text in row]) for row in rows)]
    return "\n".join(lines) + "\n"


def marked_part(file: Path, begin: str, content: str) -> str:
    """Text of a page with this content between the mark `begin` and the next `<!-- end -->`.

    Raises:
        ValueError: The page does not contain the marks.
    """
    before, opening, rest = file.read_text(encoding="utf-8").partition(begin)
    _, closing, after = rest.partition(END)
    if not opening or not closing:
        raise ValueError(f"{file.name} has no {begin} … {END}")
    return f"{before}{begin}\n\n{content}\n{END}{after}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    parts = _CODE.split(" ".join(text.split()))
    return "".join(each if each.startswith("`") else each.replace("<", "&lt;") for each in parts).replace("|", "\\|")


def code(text: object) -> str:
    """Text as code, which also escapes HTML. Empty text stays empty."""
    shown = str(text)
    return f"`{shown}`" if shown else ""


def codes(items: Iterable[object], empty: str = "–") -> str:
    """Items as code, with commas between; `empty` if there are none."""
    return ", ".join(code(item) for item in items) or empty


def or_dash(value: object) -> str:
    """A value as text; a dash if it is unknown or empty."""
    return "–" if value is None or value in ("", ()) else str(value)
