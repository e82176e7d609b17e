"""The page of statements: each is served by something that exists, or has a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generator.commands import commands
from docs.generator.statements import DECISIONS, NOTHING, decided, statements
from physical_ai.settings.layers.shape import shape_at
from physical_ai.telemetry.rule_rows import alert_rows
from tests.support.documentation import ROOT, anchors

SEED = re.compile(r"[|] (?:T|N|R)(?:, (?:T|N|R))* [|]")
OWN = [row for rows in statements().values() for row in rows]
DECIDED = [row for rows in decided().values() for row in rows]
EVERY = [*OWN, *DECIDED]


def missing(where: str) -> str:
    """What of a row does not exist; empty if all does."""
    kind, found, name = where.partition(":")
    if found and kind == "alert":
        return "" if name in alert_rows() else f"no alert {name}"
    if found and kind == "setting":
        return "" if is_setting(name) else f"no setting {name}"
    if where.startswith("physai "):
        known = {" ".join(words) for words, _ in commands()}
        return "" if where in known else f"no command {where}"
    path, _, anchor = where.partition("#")
    if not (ROOT / path).exists():
        return f"no file {path}"
    return "" if not anchor or anchor in anchors(ROOT / Path(path)) else f"no section {where}"


def is_setting(path: str) -> bool:
    *parents, last = path.split(".")
    shape = shape_at(tuple(parents))
    return shape is not None and last in shape.fields


def test_all_that_serves_a_statement_exists() -> None:
    assert [problem for row in EVERY for where in row.where if (problem := missing(where))] == []


@pytest.mark.parametrize(
    "where",
    [
        "docs/nowhere.md",
        "docs/nccl.md#nowhere",
        "physai nothing",
        "alert:GPUNothing",
        "setting:pools.h100gpu.nothing",
        "setting:nothing.at.all",
    ],
)
def test_what_does_not_exist_is_found(where: str) -> None:
    assert missing(where)


def test_no_statement_is_without_an_answer_or_is_there_twice() -> None:
    assert [row.asks for row in EVERY if not row.where and not row.why] == []
    assert len({row.asks for row in OWN}) == len(OWN) > 110
    assert [row.asks for row in DECIDED if not row.asks or row.why in ("", NOTHING)] == []


def test_every_row_of_the_decisions_is_a_statement() -> None:
    """Told by their first column (whose statement it is) and by the section, and not as the page reads them."""
    seeds, premises = (page.read_text(encoding="utf-8") for page in DECISIONS.values())
    rows = [line for line in seeds.split("## The profile, value for value")[0].splitlines() if SEED.match(line)]
    table = premises.split("## Statements")[1].split("## ")[0]
    rows += [line for line in table.splitlines() if line.startswith("| ") and "the reference says" not in line]
    assert len(DECIDED) == len(rows) > 70


def test_every_alert_about_ports_is_a_statement_s() -> None:
    """The list of counters that were asked for is complete, and each has its alert."""
    named = {where.removeprefix("alert:") for row in EVERY for where in row.where}
    ports = {name for name in alert_rows() if name.startswith("InfiniBand")}
    assert ports - named == {"InfiniBandErrors", "InfiniBandTelemetryAbsent"}
