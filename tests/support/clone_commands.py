"""Runs `physai` inside a clone, for tests of jobs: `python -m tests.support.clone_commands WORD…`.

The code is the clone's. Simulations, which take a minute each, are replaced by recorded previews.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def replace_simulations() -> None:
    """Replaces the simulation of each side of a pull request by a recorded answer."""
    from physical_ai.repository import ROOT
    from workbench.cli.pull_request import trees

    recorded = ROOT / "tests" / "golden" / "preview" / "replacement.json"

    def document(side: trees.Side, *words: str, timeout: float) -> tuple[dict[str, Any] | None, str]:
        assert (side.folder / "__main__.py").is_file(), "the side has no files"
        if words[0] == "up":
            return {"stack": words[1], "cluster": "aks-x", "pools": [], "releases": []}, ""
        return {**json.loads(recorded.read_text()), "stack": words[1]}, ""

    trees.Side.document = document  # pyright: ignore[reportAttributeAccessIssue]


def main(words: list[str]) -> int:
    from workbench.cli.main import run

    if words[0] == "pr-preview":
        replace_simulations()
    return run(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
