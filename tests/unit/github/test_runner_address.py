"""The step that lets a hosted runner reach the API server: what it adds, what it takes away, and when it refuses."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from tests.support import misbehaving_server
from tests.support.workflow_files import script

DECLARED = ["20.1.2.0/24", "198.51.100.7/32"]
OWN = "52.1.2.3"


class Azure:
    """A cluster's ranges, as `az` shows and updates them."""

    def __init__(self, ranges: list[str] | None, failures: list[str] | None = None) -> None:
        self.ranges, self.failures, self.writes = ranges, failures or [], 0

    def az(self, failed: type[Exception]) -> Callable[..., Any]:
        def answer(*arguments: str) -> Any:
            if arguments[:2] == ("aks", "show"):
                if self.ranges is None:
                    raise failed("(ResourceNotFound) The Resource was not found.")
                return self.ranges or None
            assert arguments[:2] == ("aks", "update")
            self.writes += 1
            if self.failures:
                raise failed(self.failures.pop(0))
            self.ranges = arguments[-1].split(",")
            return {}

        return answer


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Runs the script for a stack of this Azure; its exit code."""
    module: Any = script("runner_address")
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    monkeypatch.setattr(module, "SECONDS", 0)

    def run(azure: Azure, verb: str, address: str = OWN) -> int:
        monkeypatch.setattr(module, "log_in", lambda: None)
        monkeypatch.setattr(module, "az", azure.az(module.Failed))
        monkeypatch.setattr(module, "own_address", lambda: IPv4Address(address))
        monkeypatch.setattr("sys.argv", ["runner_address.py", verb, "prod-westus2"])
        return module.main()

    return run


def test_what_is_added_is_taken_away_and_nothing_else(job: Callable[..., int]) -> None:
    azure = Azure([*DECLARED])
    assert job(azure, "add") == 0
    assert azure.ranges == [*DECLARED, f"{OWN}/32"]
    assert job(azure, "add") == 0
    assert azure.writes == 1, "it is there already"
    azure.ranges = [*DECLARED]  # the cluster was updated
    assert job(azure, "add") == 0
    assert job(azure, "remove") == 0
    assert azure.ranges == DECLARED
    assert job(azure, "remove") == 0
    assert azure.writes == 3


@pytest.mark.parametrize(("ranges", "address"), [(None, OWN), ([], OWN), (DECLARED, "20.1.2.9")])
def test_nothing_is_added_without_need_and_a_declared_range_is_never_removed(
    job: Callable[..., int], ranges: list[str] | None, address: str
) -> None:
    azure = Azure(ranges)
    assert job(azure, "add", address) == job(azure, "remove", address) == 0
    assert (azure.ranges, azure.writes) == (ranges, 0)


def test_a_busy_cluster_is_waited_for(job: Callable[..., int]) -> None:
    azure = Azure([*DECLARED], ["(OperationNotAllowed) in progress", "(OperationNotAllowed) in progress"])
    assert job(azure, "add") == 0
    assert f"{OWN}/32" in (azure.ranges or [])


def test_an_error_that_nobody_has_foreseen_is_tried_again_and_one_that_stays_is_not(job: Callable[..., int]) -> None:
    azure = Azure([*DECLARED], ["(InternalServerError) no", "ConnectionResetError(104)", "something new"])
    assert job(azure, "add") == 0
    assert azure.writes == 4
    denied = Azure([*DECLARED], ["(AuthorizationFailed) no"])
    assert job(denied, "add") == 1
    assert denied.writes == 1
    lasting = Azure([*DECLARED], ["something new"] * 9)
    assert job(lasting, "add") == 1
    assert lasting.writes == 4


@pytest.mark.parametrize("ranges", [["<html>"], [None, 7], {"a": 1}])
def test_ranges_that_are_none_change_nothing(
    job: Callable[..., int], ranges: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    azure = Azure(ranges)
    assert (job(azure, "add"), azure.writes) == (1, 0)
    assert "::error::add the runner's address: " in capsys.readouterr().out


@pytest.mark.parametrize("answer", [b"<html>Sign in</html>", b"", b"\xff" * 64, b"2001:db8::1", OSError("reset")])
def test_a_service_that_names_no_address_is_asked_again_and_then_named(
    monkeypatch: pytest.MonkeyPatch, answer: bytes | OSError
) -> None:
    module: Any = script("runner_address")
    monkeypatch.setattr(module, "SECONDS", 0)
    asked: list[str] = []

    def urlopen(address: str, timeout: float) -> BytesIO:
        asked.append(address)
        if isinstance(answer, OSError):
            raise answer
        return BytesIO(answer)

    monkeypatch.setattr(module.urllib.request, "urlopen", urlopen)
    with pytest.raises(module.Failed, match=r"checkip\.amazonaws\.com named no address"):
        module.own_address()
    assert len(asked) == module.TRIES


def test_an_answer_of_the_azure_cli_that_is_no_json_is_an_error_in_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module: Any = script("runner_address")
    az = tmp_path / "az"
    az.write_text("#!/bin/sh\necho '<html>'\n")
    az.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(module.Failed, match="az aks printed no JSON"):
        module.az("aks", "show")


def test_an_address_that_could_not_be_removed_is_named(
    job: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    azure = Azure([*DECLARED])
    assert job(azure, "add") == 0
    azure.failures = ["(AuthorizationFailed) no"]
    assert job(azure, "remove") == 1
    named = f"::error::Remove {OWN}/32 from the authorized ranges of aks-physical-ai-prod-westus2"
    assert named in capsys.readouterr().out


def test_an_empty_list_which_opens_the_api_server_to_everyone_is_never_written(job: Callable[..., int]) -> None:
    azure = Azure([*DECLARED])
    assert job(azure, "add") == 0
    azure.ranges = [f"{OWN}/32"]
    assert job(azure, "remove") == 1
    assert azure.ranges == [f"{OWN}/32"]


def test_a_service_and_an_azure_cli_that_do_not_end_are_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module: Any = script("runner_address")
    monkeypatch.setattr(module, "WHOLE", 0.1)
    monkeypatch.setattr(module, "LONGEST", 0.1)
    with (
        misbehaving_server.served(lambda _: misbehaving_server.WRONG["drips its body"]) as url,
        pytest.raises(module.Failed, match="named no address: TimeoutError"),
    ):
        module.asked(url)
    (tmp_path / "az").write_text("#!/bin/sh\nexec sleep 20\n")
    (tmp_path / "az").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(module.Failed, match=r"az aks show has not ended within 0\.1 s"):
        module.az("aks", "show")
