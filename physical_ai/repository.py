"""Where the checkout is: the YAML and the programs that people edit stand beside this package, not in it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

AGENTS = ROOT / "agents"
GRID_AGENT = AGENTS / "grid_driver"
"""Holds the package `grid_agent` and the scripts that it runs on its host."""
STACKS = ROOT / "stacks"
VALUES = ROOT / "values"
MANIFESTS = ROOT / "manifests"
DOCS = ROOT / "docs"
SAMPLES = ROOT / "physical_ai" / "osmo" / "samples"
