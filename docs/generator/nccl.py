"""The tables of docs/nccl.md, generated from the catalogue's rows about NCCL."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.markdown import code, marked_part, table
from physical_ai.catalog.nccl import NCCL_SOURCE, NcclPool, pool_kinds, variables
from physical_ai.repository import DOCS

FILE = DOCS / "nccl.md"
BEGIN = f"<!-- from {NCCL_SOURCE}: python -m docs.generator -->"
WORDS = {
    "automatic": "NCCL selects it itself",
    "debugging": "for a search only",
    "fabric": "InfiniBand only",
    "interface": "eth0 only",
}


def renewed() -> str:
    """Text of the page with the current tables. Raises ValueError where the page does not contain their marks."""
    return marked_part(FILE, BEGIN, "\n".join(_tables()))


def _tables() -> Iterator[str]:
    yield table(("nodes", "environment", "note"), map(_pool, pool_kinds()))
    head = ("variable", "rule", "why")
    yield table(
        head,
        (
            (code(each.name), WORDS[each.problem] + (f", since {each.since}" if each.since else ""), each.reason)
            for each in variables()
        ),
    )


def _pool(pool: NcclPool) -> tuple[str, ...]:
    sizes = f" ({', '.join(pool.series)})" if pool.series else ""
    environment = ", ".join(code(f"{name}={value}") for name, value in pool.environment.items())
    not_read = f" Not verified: {'; '.join(pool.unverified)}." if pool.unverified else ""
    return f"{pool.title}{sizes}", environment, pool.note + not_read
