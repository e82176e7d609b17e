"""Three programs read answers alike: each runs in a Pod whose ConfigMap holds its own folder and nothing else."""

from __future__ import annotations

import ast

import pytest

from physical_ai.repository import ROOT

AGENTS = ("cluster_cleanup", "data_snapshots", "osmo_token")


@pytest.mark.parametrize("name", ["_Stay", "_whole", "_refusal"])
def test_a_bound_on_answers_is_the_same_in_every_program(name: str) -> None:
    found: set[str] = set()
    for agent in AGENTS:
        module = ast.parse((ROOT / "agents" / agent / "server.py").read_text())
        (one,) = [each for each in module.body if getattr(each, "name", "") == name]
        found.add(ast.dump(one))
    assert len(found) == 1
