"""The help, and what a wrong command line gets: what is wrong, where, what to write instead, and exit code 2."""

from __future__ import annotations

import json

import pytest

from docs.generator.commands import commands
from physical_ai.cli.groups import ORDER, PANELS
from tests.unit.cli.test_cli_commands import call


@pytest.mark.parametrize(
    ("arguments", "problem", "advice"),
    [
        (["explan"], "physai: there is no command 'explan'", "Did you mean 'explain'?  All commands: physai --help"),
        (["osmo", "valus"], "physai osmo: there is no command 'valus'", "Did you mean 'values'?"),
        (["nosuch"], "physai: there is no command 'nosuch'", "All commands: physai --help"),
        (["explain", "--jsn"], "physai explain: there is no option --jsn", "Did you mean '--json'?"),
        (["lint"], "physai lint: FILES…: no file was given", "physai lint --help"),
        (["lint", "nosuch.yaml"], "physai lint: FILES: the file nosuch.yaml does not exist", "physai lint --help"),
        (["lint", "--format", "x", "."], "physai lint: --format: 'x' is not one of 'text'", "physai lint --help"),
        (["cost", "a", "b"], "physai cost: unexpected extra argument(s) (b)", "physai cost --help"),
        (["explain", "--set"], "physai explain: Option '--set' requires an argument", "physai explain --help"),
        (["sizes", "--region", "westus22"], "physai sizes: --region: the catalogue has no region", "westus2"),
    ],
)
def test_a_wrong_command_line_is_explained(arguments: list[str], problem: str, advice: str) -> None:
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(problem)
    assert advice in err


def test_with_json_a_wrong_command_line_is_a_document_too() -> None:
    code, out, _ = call("explain", "--json", "--nosuch")
    error = json.loads(out)["error"]
    assert (code, error["exitCode"], error["faults"]) == (2, 2, [])
    assert "no option --nosuch" in error["text"]


def test_the_help_lists_every_command_in_its_panel_and_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    code, out, _ = call("--help")
    lines = out.splitlines()
    assert code == 0
    for panel, listed in PANELS.items():
        at = next(index for index, line in enumerate(lines) if line.startswith(f"╭─ {panel} ─"))
        for index, (name, text) in enumerate(listed.items(), start=at + 1):
            assert lines[index].strip("│ ").startswith(name)
            assert lines[index].strip("│ ").endswith(text)


def test_every_command_has_its_line_in_the_help() -> None:
    assert {words[1] for words, _ in commands()} == set(ORDER)
