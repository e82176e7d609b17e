"""A command in a copy of another process behaves as in the process that the user has started."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psutil
import pytest

from physical_ai.repository import ROOT
from simulator import resident
from tests.support.waiting import LIMIT, until
from workbench.cli import resident_command

CLIENT = """
import subprocess, sys
from workbench.cli import __main__, resident_command
from simulator import resident

copy = sys.argv.pop(1)
def ask(module, control):
    code = copy.format(module=module, control=control)
    subprocess.Popen([sys.executable, "-c", code], pass_fds=[control], process_group=0)
    return True

resident.ask_for_command = ask
__main__.main()
"""
"""`physai`, with a new process in the place of a copy of the resident one. Its code is the first argument."""

COPY = """
import os, signal, socket, sys, time
import {module} as copy
{}
copy.serve(socket.socket(fileno={control}))
"""
REAL = COPY.format("", module="{module}", control="{control}")
WAITING = COPY.format(
    """
def run_here(arguments):
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(number))
    print(os.getpid(), *arguments, os.environ["GIVEN"], sys.argv[0], sys.stdout.errors, os.nice(0), flush=True)
    while True:  # not `signal.pause`, which sleeps on after a signal that came just before it
        time.sleep(0.05)
copy.run_here = run_here
""",
    module="{module}",
    control="{control}",
)
FAILING = COPY.format(
    "copy.run_here = lambda arguments: print('written', end='') or 1 / 0", module="{module}", control="{control}"
)
KILLED = COPY.format(
    "copy.run_here = lambda arguments: os.kill(os.getpid(), signal.SIGKILL)", module="{module}", control="{control}"
)


@contextmanager
def client(copy: str, *arguments: str, nice: int = 0) -> Iterator[subprocess.Popen[str]]:
    command = ["nice", "-n", str(nice), sys.executable, "-c", CLIENT, copy, *arguments]
    environment = {
        **os.environ,
        "GIVEN": "given",
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8:backslashreplace",
    }
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(copy: str, *arguments: str) -> tuple[int, str, str]:
    with client(copy, *arguments) as process:
        out, err = process.communicate(timeout=LIMIT)
    return process.returncode, out, err


def test_output_and_exit_code_are_those_of_the_command() -> None:
    code, out, err = ended(REAL, "explain", "nosuch")
    assert code == 2
    assert out == ""
    assert "The stack name 'nosuch' names no region." in err
    code, out, err = ended(REAL, "explain", "dev-westus2", "pools.h100gpu.sku", "--json")
    assert (code, err) == (0, "")
    assert "Standard_NC40ads_H100_v5" in out


@pytest.mark.deep  # in `make test`: output and exit code of a refusal, above
def test_a_defect_prints_its_traceback_and_all_that_was_written() -> None:
    code, out, err = ended(FAILING, "status")
    assert (code, out) == (1, "written")
    assert "ZeroDivisionError" in err


@pytest.mark.deep  # in `make test`: a command whose user's process is killed, below
def test_a_command_that_was_killed_is_a_failure() -> None:
    code, out, err = ended(KILLED, "status")
    assert (code, out, err) == (1, "", "physai: the process of this command was killed\n")


def started(out: IO[str]) -> tuple[psutil.Process, list[str]]:
    pid, *found = out.readline().split()
    return psutil.Process(int(pid)), found


def catches(pid: int, number: signal.Signals) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (mask,) = (line.split()[1] for line in lines if line.startswith("SigCgt:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


def test_a_signal_reaches_the_command_which_has_what_the_users_process_has() -> None:
    with client(WAITING, "up", "dev-westus2", nice=3) as process:
        assert process.stdout is not None
        _, found = started(process.stdout)
        nice = os.nice(0) + 3
        assert found == ["up", "dev-westus2", "given", "physai", "backslashreplace", str(nice)]
        until(lambda: catches(process.pid, signal.SIGTERM), "the user's process passes no signals on")
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) == signal.SIGTERM


def test_a_command_ends_when_the_users_process_is_killed() -> None:
    with client(WAITING, "up") as process:
        assert process.stdout is not None
        command, _ = started(process.stdout)
        process.kill()
        assert psutil.wait_procs([command], timeout=LIMIT)[1] == []


@pytest.mark.parametrize("arguments", [(), ("sizes",), ("up", "--help"), ("tools",)])
def test_other_commands_run_where_they_are(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(module: str, control: int) -> bool:
        pytest.fail(f"asked for {module} over {control}")

    monkeypatch.setattr(resident, "ask_for_command", ask)
    assert resident_command.run(arguments) is None


@pytest.mark.parametrize("is_asked", [True, False])
def test_without_an_answer_the_command_runs_where_it_is(is_asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "ask_for_command", lambda *_: is_asked)
    monkeypatch.setattr(sys, "stdin", sys.__stdin__)
    assert resident_command.run(["status"]) is None


LOADED_AHEAD = """
import os, sys
opened = []
sys.addaudithook(lambda event, given: opened.append(os.path.abspath(given[0]))
                 if event == "open" and isinstance(given[0], str) else None)
import workbench.cli.command_copy
from physical_ai.repository import ROOT, STACKS, VALUES
print([path for path in opened if path.startswith((f"{STACKS}/", f"{VALUES}/"))])
assert any("catalog/data" in path for path in opened)
opened.clear()
from physical_ai.settings import load
load("dev-westus2")
print([path for path in opened if not path.startswith((f"{STACKS}/", f"{VALUES}/"))])
print(any(path.startswith(f"{STACKS}/") for path in opened))
"""


def test_a_copy_finds_the_catalogue_read_and_reads_the_stack_itself() -> None:
    """A file of a stack that the resident process had read would end the process when it changes."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED_AHEAD], cwd=ROOT, capture_output=True, text=True, check=True, timeout=LIMIT
    )
    ahead, again, reads_stack = done.stdout.splitlines()
    assert ahead == "[]"
    assert [path for path in ast.literal_eval(again) if "/site-packages/" not in path] == []
    assert reads_stack == "True"
