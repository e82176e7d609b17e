"""Documents that commands print with --json: each is an object with its `schemaVersion`."""

from __future__ import annotations

import ast
import json

import pytest

from physical_ai.repository import ROOT
from workbench.cli.console import SCHEMA_VERSION
from workbench.cli.main import run

FOREIGN = {
    "osmo.py": "Helm values, which Helm reads",
    "schema.py": "JSON Schema, which has its own version in each schema",
    "simulate.py": "`env`: variables of a shell by their names",
}
"""Commands that print a format of others, with that format."""


@pytest.mark.parametrize(
    "command",
    [
        ("sizes",),
        ("regions",),
        ("charts",),
        ("explain", "dev-westus2", "health"),
        ("osmo", "platforms"),
        ("policy", "--list"),
        ("check", "--questions"),
        ("stacks",),
        ("time", "dev-westus2"),
        ("cost", "dev-westus2"),
        ("compat", "dev-westus2"),
        ("explain", "nosuch-stack"),
    ],
    ids=" ".join,
)
def test_a_document_is_an_object_with_its_version(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    run([*command, "--json"])
    assert json.loads(capsys.readouterr().out)["schemaVersion"] == SCHEMA_VERSION


def test_only_formats_of_others_are_printed_without_the_version() -> None:
    users = {
        file.name
        for file in (ROOT / "workbench/cli").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print_foreign_json"
    }
    assert users - {"console.py"} == set(FOREIGN)
