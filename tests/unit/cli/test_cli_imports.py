"""Commands call what is beside them, and never each other."""

from __future__ import annotations

from docs.generator.packages import read
from physical_ai.repository import ROOT

ROOM = "physical_ai/cli/"
COMMANDS = f"{ROOM}commands/"
IMPORTS = {path: targets for path, targets in read(ROOT).imports.items() if path.startswith(ROOM)}


def test_only_the_entry_point_imports_commands() -> None:
    users = {path for path, imported in IMPORTS.items() if any(to.startswith(COMMANDS) for to in imported)}
    assert users == {f"{ROOM}main.py"}
