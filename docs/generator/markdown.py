"""The Markdown elements of the generated pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_CODE = re.compile(r"(`[^`]*`)")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table. In cells, `|` is escaped, `<` outside of code as well, and a line break becomes a space."""
    lines = [_line(head), "|" + "---|" * len(head), *(_line([_cell(text) for text in row]) for row in rows)]
    return "\n".join(lines) + "\n"


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
