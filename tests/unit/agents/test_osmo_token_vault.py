"""Tokens for the clusters of other stacks: created into a vault, taken from it, and never shown."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from json_http import Refused, Server
from osmo_token import __main__ as agent
from osmo_token.minting import Wanted, ensure, fetch
from osmo_token.secret import EXPIRES, NAME, PREVIOUS, STATE, TokenSecret
from osmo_token.service import Service
from osmo_token.vault import Identity, NotYet, VaultSecret
from simulator.osmo.control.gateway import Answer, Request
from tests.unit.agents.test_osmo_token import ADMIN, TODAY, Door, World

USER, FIRST = "sweden-agents", "sweden-1"
VAULT = "/vault/kv-1"


@dataclass
class Vaulted(World):
    """A service and API server with Entra and one vault's secret beside them."""

    kept: dict[str, Any] = field(default_factory=lambda: {"value": "none"})
    allowed: bool = True
    logins: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def answer(self, request: Request) -> Answer:
        if request.path.startswith("/entra/"):
            self.logins.append(request.body)
            return Answer(200, {"access_token": "of-the-identity"})
        if not request.path.startswith(VAULT):
            return super().answer(request)
        if not self.allowed or request.headers.get("authorization") != "Bearer of-the-identity":
            return Answer(403, {"error": {"code": "Forbidden", "message": "Caller is not authorized"}})
        if request.method == "PUT":
            self.kept = dict(request.body)
        return Answer(200, self.kept)


@dataclass
class Both:
    """The control plane's side and that of the other stack, whose Secret the world has."""

    world: Vaulted
    url: str
    file: Path
    lines: list[str] = field(default_factory=list[str])

    def store(self) -> VaultSecret:
        identity = Identity(f"{self.url}/entra", "tenant", "client", self.file)
        return VaultSecret(f"{self.url}{VAULT}", "osmo-agents-sweden", identity.token)

    def create(self, name: str = FIRST) -> None:
        service = Service(self.url, lambda: ADMIN)
        service.log_in()
        ensure(service, self.store(), Wanted(USER, name, 180, 30), self.world.day, self.lines.append)

    def take(self, name: str = FIRST, warn_days: int = 0) -> str:
        secret = TokenSecret(Server(self.url), "osmo-operator", "agent-token")
        wanted = Wanted(USER, name, 180, warn_days)
        service = Service(self.url, lambda: "")
        return fetch(service, self.store(), secret, wanted, today=self.world.day, report=self.lines.append)


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    door = Door(tmp_path_factory.mktemp("vault-door"))
    yield door
    door.server.shutdown()
    door.server.server_close()


@pytest.fixture
def both(door: Door, tmp_path: Path) -> Both:
    world = Vaulted(tmp_path)
    door.world = world
    (tmp_path / "token").write_text("of-the-account\n")
    return Both(world, door.url, tmp_path / "token")


def test_what_one_stack_creates_the_other_takes_and_the_service_accepts(both: Both) -> None:
    both.create()
    assert both.world.kept["tags"] == {"token-name": FIRST, "token-expires": "2027-05-22"}
    assert both.take() == ""
    assert both.world.accounts.who(both.world.held()) == (USER, ["osmo-backend"])
    assert both.world.notes == {NAME: FIRST, EXPIRES: "2027-05-22", STATE: "valid"}
    login = both.world.logins[0]
    assert (login["client_id"], login["client_assertion"]) == ("client", "of-the-account")
    assert login["scope"] == "https://vault.azure.net/.default"


def test_a_second_run_of_either_changes_nothing(both: Both) -> None:
    both.create()
    both.take()
    before = (json.dumps(both.world.kept), both.world.version)
    both.create()
    both.take()
    assert (json.dumps(both.world.kept), both.world.version) == before


def test_a_rotation_keeps_the_token_before_until_the_other_stack_has_moved(both: Both) -> None:
    both.create()
    both.take()
    old = both.world.held()
    both.create("sweden-2")
    assert both.world.accounts.who(old)[0] == USER, "agents that have not moved yet lose their connection"
    assert both.take("sweden-2") == ""
    assert both.world.held() != old == both.world.held(PREVIOUS)
    both.create("sweden-3")
    assert {str(each["token_name"]) for each in both.world.accounts.tokens(USER)} == {"sweden-2", "sweden-3"}


def test_a_token_that_is_not_there_yet_is_waited_for(both: Both) -> None:
    for name, has in ((FIRST, "no token"), ("sweden-2", "the token sweden-1")):
        with pytest.raises(Refused, match=f"the vault has {has}, and not {name}") as caught:
            both.take(name)
        assert caught.value.is_transient
        both.create()


def test_a_right_that_is_not_in_effect_yet_is_waited_for(both: Both) -> None:
    both.world.allowed = False
    with pytest.raises(NotYet, match="not authorized") as caught:
        both.take()
    assert caught.value.is_transient


def test_after_a_restore_of_the_database_both_sides_replace_it(both: Both) -> None:
    both.create()
    both.take()
    old = both.world.held()
    both.world.accounts.delete_token(USER, FIRST)
    assert "The service refuses the token sweden-1" in both.take()
    assert "refuses" in both.world.notes[STATE]
    both.create()
    assert both.take() == ""
    assert both.world.held() != old
    assert both.world.notes[STATE] == "valid"


def test_a_token_that_ends_is_reported(both: Both) -> None:
    both.create()
    both.world.day = TODAY + datetime.timedelta(days=170)
    assert both.take() == ""
    assert "in 10 days" in both.take(warn_days=30)


def test_the_command_creates_for_both_and_prints_no_token(
    both: Both, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    host, port = both.url.removeprefix("http://").split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    monkeypatch.setattr(agent, "of_pod", lambda account: Server(both.url))
    monkeypatch.setattr(agent, "today", lambda: TODAY)
    (tmp_path / "password").write_text(ADMIN)
    common = [
        f"--service={both.url}",
        "--user=default-agents",
        "--name=default-1",
        "--secret=osmo-operator/agent-token",
        f"--vault={both.url}{VAULT}",
        f"--authority={both.url}/entra",
        "--tenant=t",
        "--client=c",
        f"--identity-file={both.file}",
        f"--password-file={tmp_path / 'password'}",
        "--seconds=0",
    ]
    served = [f"--served={USER}={FIRST}=osmo-agents-sweden"]
    assert agent.main(["ensure", *common, *served]) == 0
    own, theirs = both.world.held(), str(both.world.kept["value"])
    assert both.world.accounts.who(own)[0] == "default-agents"
    assert both.world.accounts.who(theirs)[0] == USER
    assert agent.main(["check", *common, *served]) == 0
    taking = [each.replace("default", "sweden") for each in common]
    assert agent.main(["fetch", *taking, "--vault-secret=osmo-agents-sweden"]) == 0
    assert both.world.held() == theirs
    printed = "".join(capfd.readouterr())
    assert not [each for each in (own, theirs, ADMIN, "of-the-account", "of-the-identity") if each in printed]
