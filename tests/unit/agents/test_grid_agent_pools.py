"""One DaemonSet for all GRID pools: an agent finds what the pool of its node requires and reports when that is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grid_agent.facts import ClusterError
from grid_agent.main import Unusable, read_wanted
from grid_agent.memory import Memory
from grid_agent.metrics import Board
from grid_agent.steps import State
from grid_agent.wanted import Wanted, wanted_from
from tests.support.gpu_settings import RTX
from tests.unit.settings.test_grid_settings import A10, plan


def unexpected() -> str:
    raise AssertionError("the pool is not needed")


def written(tmp_path: Path, document: Any) -> Path:
    path = tmp_path / "wanted.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_pools_that_want_the_same_need_no_api_server(tmp_path: Path) -> None:
    found = plan()
    assert read_wanted(written(tmp_path, found.document), unexpected) == wanted_from(found.wanted["rtxprogpu"])


def test_each_pool_gets_its_own(tmp_path: Path) -> None:
    found = plan(A10, f"{RTX}.driver.version=580.105.08")
    path = written(tmp_path, found.document)
    versions = {pool: read_wanted(path, lambda pool=pool: pool).version for pool in found.wanted}
    assert versions == {"a10": "595.91.07", "rtxprogpu": "580.105.08"}


def test_a_node_of_another_pool_is_reported_which_pools_there_are(tmp_path: Path) -> None:
    path = written(tmp_path, plan(A10).document)
    with pytest.raises(Unusable, match="node pool 'cpu'; known: a10, rtxprogpu"):
        read_wanted(path, lambda: "cpu")


def test_an_api_server_that_does_not_answer_is_named_as_the_reason(tmp_path: Path) -> None:
    def silent() -> str:
        raise ClusterError("unreachable", "no answer within 15 s")

    with pytest.raises(Unusable, match="which node pool this node belongs to is not known: no answer"):
        read_wanted(written(tmp_path, plan(A10).document), silent)


@pytest.mark.parametrize(
    ("state", "ready"),
    [(State.READY, 200), (State.REMOVED, 200), (State.INSTALLING, 503), (State.BLOCKED, 503), (State.WAITING, 503)],
)
def test_the_next_nodes_turn_comes_when_this_one_is_as_wanted(state: State, ready: int) -> None:
    board = Board()
    board.put(Memory(state=state), Wanted("595.91.07"))
    assert board.answer("/readyz")[0] == ready
