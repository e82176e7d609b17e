"""The assertion that a job keeps fresh: whatever GitHub answers, and whether Azure would accept it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from physical_ai.catalog.azure_identity import TOKEN_AUDIENCE
from tests.support import misbehaving_server
from tests.support.github_assertions import BEARER, SUBJECT, Answer, Service, assertion, serving
from tests.support.workflow_files import GITHUB, script
from workbench.cli.bootstrap_script import ISSUER

GARBLED = {
    "a page of a portal": Answer(b"<html>Sign in</html>"),
    "no value": Answer(b'{"count": 1}'),
    "cut off": Answer(b'{"count": 1, "value": "ey', promised=900),
    "a list": Answer(b"[1]"),
    "a number": Answer(b'{"value": 7}'),
    "no text": Answer(b"\xff\xfe"),
    "empty": Answer(),
    "nested without end": Answer(b"[" * 60_000),
    "larger than any answer": Answer(b" " * 200_000),
    "no assertion": Answer(b'{"value": "abc"}'),
    "claims that are a list": Answer(json.dumps({"value": "a.WzFd.c"}).encode()),
    "an assertion without an end": Answer(json.dumps({"value": assertion(exp=None)}).encode()),
    "one that has run out": Answer(json.dumps({"value": assertion(exp=time.time() - 1)}).encode()),
    "an error of the service": Answer(status=500),
    "too many requests": Answer(status=429),
}


@pytest.fixture
def github() -> Iterator[Service]:
    with serving(Service()) as service:
        yield service


@pytest.fixture
def file(tmp_path: Path, github: Service, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", github.address)
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", BEARER)
    monkeypatch.setenv("AZURE_FEDERATED_TOKEN_FILE", str(tmp_path / "assertion"))
    monkeypatch.setenv("AZURE_SUBJECT", SUBJECT)
    return tmp_path / "assertion"


class Stop(BaseException):
    """The job ends."""


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module whose sleeps take no time; `slept` are their seconds, `until` may end the job."""
    module: Any = script("keep_assertion")
    module.slept, module.until = [], lambda: None

    def sleep(seconds: float) -> None:
        module.slept.append(seconds)
        module.until()

    monkeypatch.setattr(module, "time", SimpleNamespace(time=time.time, monotonic=time.monotonic, sleep=sleep))
    return module


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(GITHUB / "scripts" / "keep_assertion.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_assertion_is_replaced_and_only_its_owner_may_read_it(github: Service, file: Path) -> None:
    for _ in range(2):
        ran = run("--once")
        assert (ran.returncode, ran.stdout) == (0, "")
    assert file.read_text() == github.given[1]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_it_is_never_printed(github: Service, file: Path) -> None:
    github.claims = {"sub": "repo:acme/platform:environment:dev"}
    ran = run("--once")
    assert ran.returncode == 1
    assert github.given[0].split(".")[1] not in ran.stdout + ran.stderr


def test_without_the_right_to_a_token_the_job_stops_at_once(
    github: Service, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "other")
    ran = run("--once")
    assert (ran.returncode, github.requests) == (1, 1)
    assert "::error::no assertion: GitHub answered HTTP 403" in ran.stdout
    monkeypatch.delenv("ACTIONS_ID_TOKEN_REQUEST_URL")
    assert "id-token: write" in run("--once").stdout
    assert not file.exists()


@pytest.mark.parametrize("answer", GARBLED.values(), ids=GARBLED)
def test_no_answer_ends_the_keeper_or_replaces_a_good_assertion(
    keeper: Any, github: Service, file: Path, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper.write(file)
    before = file.read_text()
    github.answers = [answer] * 3

    def until() -> None:
        if github.answers:
            assert file.read_text() == before
        elif len(keeper.slept) == 4:
            raise Stop

    keeper.until = until
    with pytest.raises(Stop):
        keeper.keep(file)
    assert file.read_text() == github.given[-1] != before
    assert keeper.slept[:3] == [1, 2, 5], "not patient"
    assert 100 < keeper.slept[3] <= 240
    shown = capsys.readouterr().err
    assert shown.count("no new assertion: ") == 3
    assert "Traceback" not in shown
    assert "<html>" not in shown


@pytest.mark.parametrize("answer", GARBLED.values(), ids=GARBLED)
def test_the_first_one_is_asked_for_again(keeper: Any, github: Service, file: Path, answer: Answer) -> None:
    github.answers = [answer] * 4
    assert keeper.once(file) == 0
    github.answers = [answer] * 5
    assert keeper.once(file) == 1


def test_a_service_that_cannot_be_reached_or_fails_in_another_way_is_asked_again(
    keeper: Any, github: Service, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for problem in (ConnectionResetError("reset"), TimeoutError("timed out"), MemoryError(), ZeroDivisionError("odd")):
        tries: list[BaseException] = [problem]

        def sometimes(real: Callable[[], bytes] = keeper.answer, tries: list[BaseException] = tries) -> bytes:
            if tries:
                raise tries.pop()
            return real()

        with monkeypatch.context() as patch:
            patch.setattr(keeper, "answer", sometimes)
            assert keeper.once(file) == 0
        assert file.read_text() == github.given[-1]


@pytest.mark.parametrize("name", ["drips its headers", "drips its status", "goes on before it begins", "is silent"])
def test_an_answer_that_drips_before_its_body_has_a_limit(
    keeper: Any, file: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "LONGEST", 0.3)
    with misbehaving_server.served(lambda _: misbehaving_server.WRONG[name]) as url:
        monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", f"{url}/?a=b")
        with pytest.raises(keeper.NoAssertion):
            keeper.answer()


def test_the_bearer_goes_to_no_other_server(keeper: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noted(request: str) -> misbehaving_server.Behavior:
        asked.append(request)
        return misbehaving_server.document({"value": "x"})

    with misbehaving_server.served(noted) as other:
        away = misbehaving_server.answer(b"", "302 Found", Location=f"{other}/steal")
        with misbehaving_server.served(lambda _: away) as url:
            monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", f"{url}/?a=b")
            with pytest.raises(keeper.NoAssertion, match="302"):
                keeper.answer()
    assert asked == []


def test_an_answer_that_drips_has_a_limit(keeper: Any, github: Service, file: Path) -> None:
    keeper.LONGEST = -1
    assert keeper.once(file) == 1
    assert not file.exists()


@pytest.mark.parametrize(
    ("claims", "named"),
    [
        ({"sub": "repo:acme/platform:environment:dev"}, "the subject 'repo:acme/platform:environment:dev'"),
        ({"sub": "repo:acme@1/platform@2:ref:refs/heads/main"}, "the subject 'repo:acme@1/platform@2:ref"),
        ({"sub": None}, "the subject None"),
        ({"iss": "https://token.actions.githubusercontent.com/acme"}, "the issuer"),
        ({"aud": "sts.amazonaws.com"}, "the audience 'sts.amazonaws.com'"),
    ],
)
def test_an_identity_that_azure_would_refuse_stops_the_job_with_what_to_do(
    github: Service, file: Path, claims: dict[str, Any], named: str
) -> None:
    github.claims = claims
    ran = run("--once")
    assert ran.returncode == 1
    shown = ran.stdout
    assert f"::error::GitHub gives this job {named}" in shown
    assert "AADSTS700213" in shown
    assert "physai bootstrap" in shown
    assert not file.exists()


def test_without_the_variable_the_job_says_that_nothing_is_compared(
    keeper: Any, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AZURE_SUBJECT")
    assert keeper.once(file) == 0
    assert "::warning::The GitHub environment has no variable AZURE_SUBJECT" in capsys.readouterr().out


def watched(keeper: Any, file: Path, looks: int, each: Callable[[int], None] = lambda look: None) -> None:
    """Watches for a number of looks; `each` changes something before the next one."""

    def until() -> None:
        each(len(keeper.slept))
        if len(keeper.slept) == looks:
            keeper.is_running = lambda process: False

    keeper.until = until
    keeper.watch(file, os.getpid())


def test_a_fresh_assertion_is_left_alone(
    keeper: Any, github: Service, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper.write(file)
    watched(keeper, file, 3)
    assert (github.requests, capsys.readouterr().out) == (1, "")


SOON_OVER = {"empty": "", "garbage": "garbage", "almost over": assertion(exp=time.time() + 20), "missing": None}


@pytest.mark.parametrize("text", SOON_OVER.values(), ids=SOON_OVER)
def test_one_that_nobody_renews_is_renewed_by_the_step_which_says_so(
    keeper: Any, github: Service, file: Path, text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        file.write_text(text)
    watched(keeper, file, 2)
    assert file.read_text() == github.given[0]
    assert capsys.readouterr().out.count("::warning::The assertion's keeper has stopped") == 1


def test_one_that_cannot_be_renewed_is_an_error_in_the_log_before_a_login_fails(
    keeper: Any, github: Service, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(assertion(exp=time.time() + 50))
    github.answers = [Answer(status=500)] * 2
    watched(keeper, file, 3)
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 3
    assert shown[0].startswith("::error::The job's assertion is not renewed: GitHub answered HTTP 500. It is good for ")
    assert shown[2].startswith("::warning::")


def test_a_watch_ends_with_its_step() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert script("keep_assertion").is_running(os.getpid())
    assert not script("keep_assertion").is_running(ended.pid)


def test_the_script_and_the_credential_are_of_one_issuer_and_audience() -> None:
    module: Any = script("keep_assertion")
    assert (module.ISSUER, module.AUDIENCE) == (ISSUER, TOKEN_AUDIENCE)
