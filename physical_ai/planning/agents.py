"""The programs in `agents/`, as files for a ConfigMap."""

from __future__ import annotations

from physical_ai.repository import AGENTS

CODE = (".py", ".sh")


def files(agent: str) -> dict[str, str]:
    """The texts of an agent's programs, by path below its folder, in the order of paths; without documentation."""
    root = AGENTS / agent
    found = sorted(path for path in root.rglob("*") if path.suffix in CODE and path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text() for path in found}
