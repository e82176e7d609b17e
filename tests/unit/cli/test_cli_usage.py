"""The help, and what a wrong command line gets: what is wrong, where, what to write instead, and exit code 2."""

from __future__ import annotations

import json

import pytest

from docs.generator.commands import commands
from tests.support.cases import in_one_test
from tests.unit.cli.test_cli_commands import call
from workbench.cli.groups import ORDER, PANELS


@in_one_test(
    ("arguments", "problem", "advice"),
    [
        (["explan"], "physai: there is no command 'explan'", "Did you mean 'explain'?  All commands: physai --help"),
        (["osmo", "valus"], "physai osmo: there is no command 'valus'", "Did you mean 'values'?"),
        (["nosuch"], "physai: there is no command 'nosuch'", "All commands: physai --help"),
        (["explain", "--jsn"], "physai explain: there is no option --jsn", "Did you mean '--json'?"),
        (["lint"], "physai lint: FILES…: no file was given", "physai lint --help"),
        (["lint", "nosuch.yaml"], "physai lint: FILES: the file nosuch.yaml does not exist", "physai lint --help"),
        (
            ["lint", "--format", "x", "."],
            "physai lint: --format: 'x' is not possible here",
            "One of: text, json, github.",
        ),
        (["cost", "a", "b"], "physai cost: 'b' is too much: the command takes STACK", "Remove it."),
        (["sizes", "foo"], "physai sizes: 'foo' is too much: the command takes no arguments", "physai sizes --help"),
        (["stacks", "dev-westus2"], "physai stacks: 'dev-westus2' is too much", "physai explain dev-westus2"),
        (["regions", "dev-westus2"], "physai regions: 'dev-westus2' is too much", "--stack dev-westus2"),
        (["regions", "westus2"], "physai regions: 'westus2' is too much", "physai sizes --region westus2"),
        (["explain", "--set"], "physai explain: --set needs a value: PATH=VALUE", "--set pools.h100gpu.scale.max=2"),
        (["compat", "--severity"], "physai compat: --severity needs a value", "Write: physai compat --severity error"),
        (["compat", "--severity", "eror"], "physai compat: --severity: 'eror' is not possible", "mean 'error'?"),
        (["stacks", "--diff", "A"], "physai stacks: --diff needs 2 values: A B", "--diff dev-westus2 prod-westus2"),
        (["schema", "--json=3"], "physai schema: --json takes no value", "Write: physai schema --json"),
        (["cost", "--spot-factor", "abc"], "physai cost: --spot-factor: 'abc' is not a number", "--spot-factor 0.4"),
        (["compat", "--at", "tomorrow"], "physai compat: --at: 'tomorrow' is not a date", "--at 2026-07-31"),
        (["dashboards", "--minutes", "0"], "physai dashboards: --minutes: 0 is too small", "At least 1."),
        (["fault", "inject", "x", "--gpu", "a"], "physai fault inject: --gpu: 'a' is not a whole", "--gpu 3"),
        (["node", "replace"], "physai node replace: NODE is missing", "Write: physai node replace NODE"),
        (["sizes", "--region", "westus22"], "physai sizes: --region: the catalogue has no region", "westus2"),
        (["sizes", "--region", "all"], "physai sizes: --region: the catalogue has no region", "Regions: westus2,"),
        (["fault", "inject", "xid-97"], "physai fault inject: FAULT: there is no fault 'xid-97'", "physai fault list"),
        (["fault", "heal", "nope"], "physai fault heal: FAULT: there is no fault 'nope'", "physai fault list"),
    ],
)
def test_a_wrong_command_line_is_explained(arguments: list[str], problem: str, advice: str) -> None:
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(problem)
    assert advice in err


def test_an_option_that_is_not_near_is_not_suggested() -> None:
    assert "Did you mean" not in call("schema", "--check")[2]


def test_the_help_names_the_values_of_options_as_the_reference_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 120)
    for words, _ in commands():
        _, out, _ = call(*words[1:], "--help")
        assert "<bool>" not in out
        assert "<%" not in out
    assert "[STACK]" in call("cost", "--help")[1]


def test_a_comparison_without_a_change_says_what_it_lacks() -> None:
    code, _, err = call("cost", "--change")
    assert code == 0
    assert "--change compares what -f and --set make of the stack" in err


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
