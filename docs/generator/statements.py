"""docs/reference/statements.md: what descriptions of such platforms ask for, and where each statement is served."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from docs.generator.markdown import code, table
from physical_ai import safe_yaml
from physical_ai.repository import ROOT

FILE = ROOT / "docs" / "reference" / "statements.md"
DATA = Path(__file__).with_name("statements.yaml")
_HEAD = """\
# Statements, and where they are served

Generated from `docs/generator/statements.yaml` and the tables of `docs/decisions/` by `python -m docs.generator`. Three
descriptions of such a platform are what this project is held against: notes on operating an AI cluster, a course on GPU
nodes, and a reference architecture on premises. Each statement is here in our own words, with what serves it, or with
the reason why nothing does. Statements of the architectures themselves are at the end, with the section that says what
is true now. A test looks up every file, page, command, setting and alert of this page.
"""
DECISIONS = {
    "The architecture of February 2026": ROOT / "docs" / "decisions" / "seed-2026-02.md",
    "The reference on premises of March 2026": ROOT / "docs" / "decisions" / "onprem-2026-03.md",
}
NOTHING = "–"
_SAYS = re.compile(r"the (?:seeds say|reference says)")
_CELLS = re.compile(r"(?<!\\\\)[|]")


@dataclass(frozen=True)
class Statement:
    asks: str
    where: tuple[str, ...]
    """References to what serves the statement: paths, pages with an anchor, `physai` and a command, `alert:` and a
    name, `setting:` and a path.
    """
    why: str


@lru_cache(maxsize=1)
def statements() -> Mapping[str, tuple[Statement, ...]]:
    """Statements by the name of their group."""
    given: Sequence[Mapping[str, Any]] = safe_yaml.load(DATA.read_text(encoding="utf-8"))
    return {
        group["group"]: tuple(
            Statement(row["asks"], tuple(row.get("where", ())), row.get("why", "")) for row in group["rows"]
        )
        for group in given
    }


def document() -> str:
    """Text of the complete page."""
    return "\n".join([_HEAD, *_tables()])


def _tables() -> Iterator[str]:
    for group, rows in statements().items():
        yield f"## {group}\n"
        shown = ((row.asks, "; ".join(map(_shown, row.where)) or "not", row.why or "–") for row in rows)
        yield table(("statement", "served by", "remark"), shown)
    for group, rows in decided().items():
        yield f"## {group}\n"
        yield table(
            ("statement", "discussed in", "what a stack does, or what is true"),
            ((r.asks, *map(_shown, r.where), r.why) for r in rows),
        )


@lru_cache(maxsize=1)
def decided() -> Mapping[str, tuple[Statement, ...]]:
    """Statements of the architectures that `docs/decisions/` discusses, by page and section, from the tables of these
    pages.

    The field `why` is the last column of a table: what a stack does, or, where it does nothing, the present state. The
    links in it stay valid, since both pages are at the same depth.
    """
    found: dict[str, list[Statement]] = {}
    for title, page in DECISIONS.items():
        section, says = "", -1
        for line in page.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in _CELLS.split(line)[1:-1]]
            if line.startswith("## "):
                section, says = line.removeprefix("## "), -1
            elif not cells:
                says = -1
            elif any(map(_SAYS.fullmatch, cells)):
                says = next(at for at, cell in enumerate(cells) if _SAYS.fullmatch(cell))
            elif says >= 0 and set(line) - set("|- "):
                where = f"{page.relative_to(ROOT).as_posix()}#{slug(section)}"
                group = f"{title}: {section[0].lower()}{section[1:]}"
                found.setdefault(group, []).append(
                    Statement(cells[says], (where,), cells[-1] if cells[-1] != NOTHING else cells[-2])
                )
    return {group: tuple(rows) for group, rows in found.items()}


def slug(heading: str) -> str:
    """Anchor of a heading that contains no code and is unique on its page."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _shown(where: str) -> str:
    kind, found, name = where.partition(":")
    if found and kind == "alert":
        return f"alert [{name}](../runbooks/alerts.md#{name.lower()})"
    if found:
        return f"{kind} {code(re.sub(r'^pools[.]h100gpu', 'pools.POOL', name))}"
    if where.startswith("physai "):
        return f"[`{where}`](commands.md#{where.replace(' ', '-')})"
    page = where.removeprefix("docs/")
    return f"[{page}](../{page})" if page != where else f"[{where}](../../{where})"
