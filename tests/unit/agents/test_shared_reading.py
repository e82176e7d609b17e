"""Four programs read answers alike: each runs in a Pod whose ConfigMap holds its own folder and nothing else."""

from __future__ import annotations

import ast

import pytest

from physical_ai.repository import ROOT

FILES = ("cluster_cleanup/server.py", "data_snapshots/server.py", "osmo_token/server.py", "gpu_evidence/api.py")


@pytest.mark.parametrize("name", ["exchange", "_body"])
def test_a_bound_on_answers_is_the_same_in_every_program(name: str) -> None:
    found: set[str] = set()
    for file in FILES:
        module = ast.parse((ROOT / "agents" / file).read_text())
        (one,) = [each for each in module.body if getattr(each, "name", "") == name]
        found.add(ast.dump(one))
    assert len(found) == 1
