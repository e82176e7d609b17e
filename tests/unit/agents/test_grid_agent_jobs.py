"""The GRID agent's jobs: starts that systemd refuses or confirms too late, unreadable results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grid_agent import jobs
from grid_agent.facts import (
    Job,
)
from grid_agent.shell import TIMED_OUT, Result, Shell
from grid_agent.steps import Step
from grid_agent.store import STATE_DIR
from tests.support.grid_agent_fake import ODD, FakeNode, installed, wanted


class Commands(Shell):
    """A host on which `systemd-run` and `systemctl` answer as given."""

    def __init__(self, root: Path, **answers: Result) -> None:
        super().__init__(str(root))
        self.answers = answers

    def run(self, *command: str) -> Result:
        return self.answers.get(command[0].replace("-", "_"), Result(0))


JOB = Job("install-1", Step.INSTALL, wanted().target, "running", started=5.0)

PLACE = jobs.Place("/scripts", "6.8", ())

INACTIVE, ACTIVE = Result(0, "ActiveState=inactive\n"), Result(0, "ActiveState=active\n")


def test_a_job_that_systemd_refuses_is_one_failure_and_no_interruption(tmp_path: Path) -> None:
    shell = Commands(tmp_path, systemd_run=Result(1, err="Failed to connect to bus"), systemctl=INACTIVE)
    with pytest.raises(jobs.HostError, match="Failed to connect to bus"):
        jobs.start(shell, JOB, wanted(), PLACE)
    assert jobs.found(shell) is None


def test_a_job_whose_start_is_confirmed_too_late_runs(tmp_path: Path) -> None:
    shell = Commands(tmp_path, systemd_run=Result(TIMED_OUT), systemctl=ACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    found = jobs.found(shell)
    assert found is not None
    assert found.state == "running"


def test_a_job_that_has_ended_when_its_start_is_confirmed_is_no_failure(tmp_path: Path) -> None:
    shell = Commands(tmp_path, systemd_run=Result(TIMED_OUT), systemctl=INACTIVE)
    shell.write(jobs.log_of(JOB.id), "== install")
    jobs.start(shell, JOB, wanted(), PLACE)


def test_a_job_that_began_and_left_no_result_vanished(tmp_path: Path) -> None:
    shell = Commands(tmp_path, systemctl=INACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    shell.write(jobs.log_of(JOB.id), "== install")
    found = jobs.found(shell)
    assert found is not None
    assert found.state == "vanished"


def test_a_job_that_holds_its_lock_runs_although_systemd_is_silent(tmp_path: Path) -> None:
    import fcntl

    shell = Commands(tmp_path, systemctl=Result(TIMED_OUT))
    jobs.start(shell, JOB, wanted(), PLACE)
    assert jobs.found(shell) is None
    with shell.path(f"{STATE_DIR}/job.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = jobs.found(shell)
    assert found is not None
    assert found.state == "running"


@pytest.mark.parametrize("code", [None, "0", "", [], {}, True, 1.5])
def test_a_result_without_an_exit_code_is_a_failure(tmp_path: Path, code: object) -> None:
    shell = Commands(tmp_path, systemctl=INACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    shell.write(f"{STATE_DIR}/result.json", json.dumps({"id": JOB.id, "code": code, "ended": None}))
    found = jobs.found(shell)
    assert found is not None
    assert (found.state, found.code) == ("failed", jobs.UNREADABLE)


@pytest.mark.parametrize("change", [{"urls": None}, {"started": "soon"}, {"step": "dance"}, {"started": None}])
def test_a_job_document_that_can_not_be_read_is_none(tmp_path: Path, change: dict[str, Any]) -> None:
    shell = Commands(tmp_path, systemctl=INACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    document = json.loads(shell.read(f"{STATE_DIR}/job.json") or "")
    shell.write(f"{STATE_DIR}/job.json", json.dumps({**document, **change}))
    assert jobs.found(shell) is None


@pytest.mark.parametrize("name", ["id", "step", "version", "sha256", "module_type", "urls", "started"])
def test_whatever_a_job_document_contains_the_host_is_read(tmp_path: Path, name: str) -> None:
    shell = Commands(tmp_path, systemctl=INACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    document = json.loads(shell.read(f"{STATE_DIR}/job.json") or "")
    for value in ODD:
        shell.write(f"{STATE_DIR}/job.json", json.dumps({**document, name: value}))
        found = jobs.found(shell)
        fake = FakeNode(facts=installed(job=found), wanted=wanted())
        fake.tick()


@pytest.mark.parametrize("name", ["id", "code", "sentence", "ended"])
def test_whatever_a_result_contains_the_host_is_read(tmp_path: Path, name: str) -> None:
    shell = Commands(tmp_path, systemctl=INACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    for value in ODD:
        result = {"id": JOB.id, "code": 0, "sentence": "", "ended": 5, name: value}
        shell.write(f"{STATE_DIR}/result.json", json.dumps(result))
        FakeNode(facts=installed(job=jobs.found(shell)), wanted=wanted()).tick()
