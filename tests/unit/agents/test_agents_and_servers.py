"""The agents' client against a server that misbehaves: it refuses in one line, and never ends in a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import certifi
import pytest

import json_http
from grid_agent import api as grid
from grid_agent.facts import ClusterError
from json_http import ApiServer, Refused, Server
from tests.support import misbehaving_server as server
from tests.support.cases import in_one_test

ANSWERS = {"has items that are none", "has null for an item", "has labels in a list", "has an item without metadata",
           "goes on with the same page", "has a next page that is none"}  # fmt: skip
"""Objects: what is in them is their readers' to judge."""
TAKEN = {"sends a list", "sends a text", "sends null", "is empty", "has no content", "packs what it sends",
         "writes numbers that are none", "nests deeply", "has a length that is no number"}  # fmt: skip
"""What one of the two returns as it is."""
LARGEST = 1 << 18
Client = Callable[[str, Path], Server]
CLIENTS: dict[str, Client] = {
    "of a server": lambda url, _: Server(url, largest=LARGEST),
    "of the API server": lambda url, account: ApiServer(url, account, LARGEST),
}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("secret-token")
    (tmp_path / "ca.crt").write_text(Path(certifi.where()).read_text())
    return tmp_path


@in_one_test("name", sorted(server.WRONG.keys() - ANSWERS))
@in_one_test("client", CLIENTS)
def test_a_wrong_answer_is_refused(client: str, name: str, account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_http, "SECONDS", 0.3)
    said = "an answer"
    with server.served(lambda _: server.WRONG[name]) as url:
        try:
            CLIENTS[client](url, account).request("GET", "/x")
        except Refused as problem:
            said = str(problem)
    assert "secret-token" not in said
    assert said != "an answer" or name in TAKEN


@pytest.mark.parametrize("name", ["sends a list", "sends a text", "sends null"])
def test_an_api_server_answers_objects(name: str, account: Path) -> None:
    with server.served(lambda _: server.WRONG[name]) as url, pytest.raises(Refused, match="the answer is no object"):
        ApiServer(url, account).request("GET", "/x")


@pytest.mark.parametrize("name", ["drips its body", "drips its headers", "does not end", "cuts its body", "redirects",
                                  "nests without end", "is a login page"])  # fmt: skip
def test_the_grid_agent_keeps_its_bounds(name: str, account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "LARGEST", LARGEST)
    with server.served(lambda _: server.WRONG[name]) as url:
        api = grid.Api(url, account, "node", "gpu-operator")
        api.seconds = 0.3
        with pytest.raises(ClusterError):
            api.observe()
