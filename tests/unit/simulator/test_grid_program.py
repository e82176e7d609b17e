"""The agent's files as a simulated node runs them."""

from __future__ import annotations

from physical_ai.repository import ROOT
from simulator.gpu.live.grid_program import load

AGENT = ROOT / "agents" / "grid_driver"


def test_all_of_the_agents_files_are_a_program_with_the_folders_in_it() -> None:
    """A folder in the package is a package of its own, as on a node."""
    paths = sorted(AGENT.glob("grid_agent/**/*.py"))
    assert any(len(path.relative_to(AGENT).parts) > 2 for path in paths), "no folder is tried"
    program = load({str(path.relative_to(AGENT)): path.read_text() for path in paths})
    assert program.to_document(program.fresh_memory())
