"""The clients of the agents against a server that misbehaves: they refuse in one line, and none ends in a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import certifi
import pytest

import cluster_cleanup.server
import data_snapshots.server
import gpu_evidence.api
import osmo_token.server
from grid_agent import api as grid
from grid_agent.facts import ClusterError
from tests.support import misbehaving_server as server

ANSWERS = {"has items that are none", "has null for an item", "has labels in a list", "has an item without metadata",
           "goes on with the same page", "has a next page that is none"}  # fmt: skip
"""Objects: what is in them is their readers' to judge."""
TAKEN = {"sends a list", "sends a text", "sends null", "is empty", "has no content", "packs what it sends",
         "writes numbers that are none", "nests deeply", "has a length that is no number"}  # fmt: skip
"""What some of the clients return as it is."""
Ask = Callable[[str, Path], Any]
Client = tuple[Any, Ask, type[Exception]]
AGENTS: dict[str, Client] = {
    "cluster_cleanup": (
        cluster_cleanup.server,
        lambda url, account: cluster_cleanup.server.Server(url, account).request("GET", "/x"),
        cluster_cleanup.server.Refused,
    ),
    "data_snapshots": (
        data_snapshots.server,
        lambda url, account: data_snapshots.server.Server(url, account).request("GET", "/x"),
        data_snapshots.server.Refused,
    ),
    "osmo_token": (
        osmo_token.server,
        lambda url, _: osmo_token.server.Server(url).request("GET", "/x"),
        osmo_token.server.Refused,
    ),
    "gpu_evidence": (
        gpu_evidence.api,
        lambda url, account: gpu_evidence.api.Api(url, account).request("GET", "/x"),
        gpu_evidence.api.Refused,
    ),
}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("secret-token")
    (tmp_path / "ca.crt").write_text(Path(certifi.where()).read_text())
    return tmp_path


@pytest.mark.parametrize("name", sorted(server.WRONG.keys() - ANSWERS))
@pytest.mark.parametrize("agent", AGENTS)
def test_a_wrong_answer_is_refused(agent: str, name: str, account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, ask, refused = AGENTS[agent]
    monkeypatch.setattr(module, "SECONDS", 0.3)
    monkeypatch.setattr(module, "LARGEST", 1 << 18)
    said = "an answer"
    with server.served(lambda _: server.WRONG[name]) as url:
        try:
            ask(url, account)
        except refused as problem:
            said = str(problem)
    assert "secret-token" not in said
    assert said != "an answer" or name in TAKEN


@pytest.mark.parametrize("name", ["drips its body", "drips its headers", "does not end", "cuts its body", "redirects",
                                  "nests without end", "is a login page"])  # fmt: skip
def test_the_grid_agent_keeps_its_bounds(name: str, account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "LARGEST", 1 << 18)
    with server.served(lambda _: server.WRONG[name]) as url:
        api = grid.Api(url, account, "node", "gpu-operator")
        api.seconds = 0.3
        with pytest.raises(ClusterError):
            api.observe()
