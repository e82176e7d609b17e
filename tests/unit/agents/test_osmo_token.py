"""The program that creates the token of OSMO's agents, against the stand-in's service with faults."""

from __future__ import annotations

import base64
import datetime
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from json_http import Refused, Server, message
from osmo_token import __main__ as agent
from osmo_token.secret import EXPIRES, NAME, PREVIOUS, STATE, TOKEN
from osmo_token.service import Service
from simulator.osmo.control import gateway_server
from simulator.osmo.control.gateway import Answer, Request, Surroundings
from tests.support.osmo_token_world import ADMIN, TODAY, USER, Door, Run, World


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    door = Door(tmp_path_factory.mktemp("door"))
    yield door
    door.server.shutdown()
    door.server.server_close()


@pytest.fixture
def run(door: Door, tmp_path: Path) -> Run:
    door.world = World(tmp_path)
    return Run(door.world, door.url)


def test_a_new_backend_gets_a_user_with_one_role_and_a_token_that_works(run: Run) -> None:
    run.ensure()
    assert run.world.accounts.who(run.world.held()) == (USER, ["osmo-backend"])
    assert run.world.accounts.user(USER)["roles"] == [{"role_name": "osmo-backend"}]
    assert run.world.notes == {NAME: "default-1", EXPIRES: "2027-05-22", STATE: "valid"}


def test_a_second_run_changes_nothing(run: Run) -> None:
    run.ensure()
    before = (run.world.held(), run.world.version)
    run.ensure()
    assert (run.world.held(), run.world.version) == before
    assert run.lines[-1] == "The token default-1 of backend-default is valid."


def test_no_line_contains_a_token_or_the_password(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    for rotation in ("1", "2", "3"):
        run.ensure(rotation)
    printed = "\n".join([*run.lines, *capfd.readouterr()])
    assert "Created the token default-3" in printed
    for secret in (ADMIN, run.world.held(), run.world.held(PREVIOUS)):
        assert secret
        assert secret not in printed


def test_a_rotation_keeps_the_token_before_it_and_deletes_older_ones(run: Run) -> None:
    run.ensure("1")
    first = run.world.held()
    run.ensure("2")
    second = run.world.held()
    assert run.world.held(PREVIOUS) == first != second
    assert run.world.accounts.who(first) == run.world.accounts.who(second)  # agents that have not moved stay connected
    run.ensure("3")
    assert run.world.held(PREVIOUS) == second
    assert run.names() == ["default-2", "default-3"]


def test_a_token_that_was_made_by_hand_is_kept_as_the_previous_one(run: Run) -> None:
    run.world.accounts.create_user(USER, ["osmo-backend"], "admin")
    by_hand = run.world.accounts.create_token(USER, "mine", "2027-01-01", "of the operator", ["osmo-backend"])
    run.world.data[TOKEN] = base64.b64encode(by_hand.encode()).decode()
    run.ensure()
    assert run.world.held(PREVIOUS) == by_hand
    assert run.names() == ["default-1", "mine"]  # what this program did not create it does not delete


@pytest.mark.parametrize("write", [Answer(500, {}), Answer(403, {"message": "forbidden"})])
def test_a_token_that_was_created_and_not_written_is_created_again(run: Run, write: Answer) -> None:
    """As after a kill between the two: the service has a digest, and nobody the value."""
    run.world.faults.append(("PATCH", "secrets", write))
    with pytest.raises(Refused):
        run.ensure()
    assert (run.names(), run.world.held()) == (["default-1"], "")
    run.ensure()
    assert run.names() == ["default-1"]
    assert run.world.accounts.who(run.world.held())[0] == USER


def test_a_kill_before_older_tokens_are_deleted_is_made_up_for(run: Run) -> None:
    for rotation in ("1", "2"):
        run.ensure(rotation)
    run.world.faults.append(("DELETE", "default-1", Answer(503, {})))
    with pytest.raises(Refused):
        run.ensure("3")
    assert run.names() == ["default-1", "default-2", "default-3"]
    run.ensure("3")
    assert run.names() == ["default-2", "default-3"]


def test_a_secret_that_changes_meanwhile_gets_the_token_all_the_same(run: Run) -> None:
    run.world.faults += [("PATCH", "secrets", Answer(409, {"message": "modified"}))] * 2
    run.ensure()
    assert run.names() == ["default-1"]
    assert run.world.accounts.who(run.world.held())[0] == USER


@pytest.mark.parametrize("code", [400, 409])
def test_a_user_that_exists_gets_the_role(run: Run, code: int) -> None:
    run.world.accounts.create_user(USER, [], "someone")
    run.world.faults.append(("POST", "/api/auth/user", Answer(code, {"message": f"User {USER} already exists"})))
    run.ensure()
    assert run.world.accounts.who(run.world.held()) == (USER, ["osmo-backend"])


def test_an_expired_session_is_renewed(run: Run) -> None:
    run.world.faults.append(("GET", "access_token", Answer(401, {"message": "Jwt is expired"})))
    run.ensure()
    assert run.names() == ["default-1"]


def test_a_token_that_the_service_refuses_is_reported_and_replaced(run: Run) -> None:
    run.ensure()
    old = run.world.held()
    run.world.accounts.delete_token(USER, "default-1")  # as after a database was restored to an earlier time
    assert run.check() == "The service refuses the token default-1: Access Token is invalid"
    assert run.world.notes[STATE].endswith("Access Token is invalid")
    run.ensure()
    assert run.world.held() != old
    assert any("Access Token is invalid It is replaced" in line for line in run.lines)
    assert run.check() == ""
    assert run.world.notes[STATE] == "valid"


def test_an_expired_token_is_reported_and_replaced(run: Run) -> None:
    run.ensure(days=10)
    run.world.day += datetime.timedelta(days=10)
    assert run.check() == "The service refuses the token default-1: Access Token has expired"
    run.ensure()
    assert run.world.accounts.who(run.world.held())[0] == USER


def test_a_token_that_ends_soon_is_reported_with_what_to_do(run: Run) -> None:
    run.ensure(days=20)
    assert run.check(warn_days=19) == ""
    problem = run.check(warn_days=30)
    assert "expires on 2026-12-13, in 20 days. Change osmo.tokenRotation" in problem
    assert run.world.notes[STATE] == problem


def test_a_secret_without_a_token_is_reported(run: Run) -> None:
    assert "has no token" in run.check()


def test_a_longer_time_than_the_service_allows_is_refused_with_its_reason(run: Run) -> None:
    with pytest.raises(Refused, match="cannot be more than 365d"):
        run.ensure(days=366)
    assert run.world.held() == ""


# The program as its Job starts it


def main(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> int:
    (folder / "password").write_text(ADMIN)
    (folder / "token").write_text("of the Pod")
    arguments = ["ensure", "--service", run.url, "--password-file", str(folder / "password"), "--user", USER]
    arguments += ["--name", "default-1", "--days", "180", "--secret", "osmo-operator/agent-token"]
    monkeypatch.setattr(agent, "of_pod", lambda account: Server(run.url))  # pyright: ignore
    monkeypatch.setattr(agent, "today", lambda: TODAY)
    return agent.main([*arguments, "--account", str(folder), *more], pause=lambda seconds: None)


def test_it_waits_for_a_service_that_starts(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run.world.faults += [("GET", "/api/version", Answer(503, {})), ("POST", "access_token", Answer(502, {}))]
    assert main(run, tmp_path, monkeypatch) == 0
    assert run.world.accounts.who(run.world.held())[0] == USER


def test_it_ends_with_the_reason_when_the_password_is_wrong(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(f"{__name__}.ADMIN", "b" * 43)
    run.world.gateway.around = Surroundings(run.world.gateway.around.configuration, lambda: "a" * 43, lambda name: {})
    assert main(run, tmp_path, monkeypatch) == 1
    printed = capfd.readouterr()
    assert "400 Access Token is invalid" in printed.err
    assert "bbbb" not in printed.err + printed.out
    assert run.world.held() == ""


def test_it_ends_when_the_service_does_not_come(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run.world.faults += [("GET", "/api/version", Answer(503, {"message": "no healthy upstream"}))] * 3
    assert main(run, tmp_path, monkeypatch, "--seconds", "0") == 1
    assert "503 no healthy upstream" in capfd.readouterr().err


def test_an_error_that_repeats_a_secret_is_shown_without_it(run: Run) -> None:
    run.world.faults.append(("POST", "/api/auth/user", Answer(418, {"message": f"you sent {ADMIN}"})))
    with pytest.raises(Refused) as refusal:
        run.ensure()
    assert ADMIN not in str(refusal.value)


def test_a_server_that_never_answers_is_no_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("json_http.SECONDS", 0.2)
    end = threading.Event()

    def silent(request: Request) -> Answer:
        end.wait(30)
        return Answer(200, None)

    server = gateway_server.serve(silent, tmp_path)
    try:
        with pytest.raises(Refused) as refusal:
            Service(gateway_server.address(tmp_path), lambda: ADMIN).version()
        assert refusal.value.is_transient
    finally:
        end.set()
        server.shutdown()
        server.server_close()


def test_a_refusal_is_read_in_each_servers_form() -> None:
    assert message(json.dumps({"message": "of Kubernetes and OSMO"}).encode()) == "of Kubernetes and OSMO"
    assert message(json.dumps({"detail": "of FastAPI"}).encode()) == "of FastAPI"
    assert message(b"upstream connect error") == "upstream connect error"
    assert message(json.dumps([1]).encode()) == "[1]"
