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

Generated from `docs/generator/statements.yaml` by `python -m docs.generator`. Three descriptions of such a platform are
what this project is held against: notes on operating an AI cluster, a course on GPU nodes, and a reference architecture
on premises. Each statement is here in our own words, with what serves it, or with the reason why nothing does.
[Decisions](../decisions/seed-2026-02.md) discusses those about the architecture itself. A test looks up every file,
page, command, setting and alert of this page.
"""


@dataclass(frozen=True)
class Statement:
    asks: str
    where: tuple[str, ...]
    """Paths, pages with an anchor, `physai` and a command, `alert:` and a name, `setting:` and a path."""
    why: str


@lru_cache(maxsize=1)
def statements() -> Mapping[str, tuple[Statement, ...]]:
    """By group."""
    given: Sequence[Mapping[str, Any]] = safe_yaml.load(DATA.read_text(encoding="utf-8"))
    return {
        group["group"]: tuple(
            Statement(row["asks"], tuple(row.get("where", ())), row.get("why", "")) for row in group["rows"]
        )
        for group in given
    }


def document() -> str:
    """The complete page."""
    return "\n".join([_HEAD, *_tables()])


def _tables() -> Iterator[str]:
    for group, rows in statements().items():
        yield f"## {group}\n"
        shown = ((row.asks, "; ".join(map(_shown, row.where)) or "not", row.why or "–") for row in rows)
        yield table(("statement", "served by", "remark"), shown)


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
