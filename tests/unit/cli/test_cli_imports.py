"""Commands call what is beside them, and never each other."""

from __future__ import annotations

from tests.test_imports import PATHS, arrows

ROOM = "physical_ai/cli/"
COMMANDS = f"{ROOM}commands/"
ARROWS = {path: [to for to in arrows(path) if to.startswith(ROOM)] for path in PATHS if path.startswith(ROOM)}


def test_only_the_entry_point_imports_commands() -> None:
    users = {path for path, imported in ARROWS.items() if any(to.startswith(COMMANDS) for to in imported)}
    assert users == {f"{ROOM}main.py"}


def test_no_module_imports_itself_over_others() -> None:
    left = dict(ARROWS)
    while free := [path for path, imported in left.items() if not any(to in left for to in imported)]:
        for path in free:
            del left[path]
    assert left == {}
