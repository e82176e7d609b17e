"""The program's own process: it answers its command, gets no signal from a terminal, and ends with the command.

It is a copy of the resident process, which sees changed files, is replaced, and ends with the last simulation, and
makes copies for complete commands, too.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from physical_ai.repository import HOME_VARIABLE, ROOT
from simulator import processes, program_process, resident, resident_process
from simulator.errors import EngineFailed
from simulator.home import Home
from tests.support.waiting import LIMIT

COMMAND = """
import os, signal
from simulator import program_process
program_process.start()
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.killpg(0, signal.SIGINT)
address = program_process.address()
[process] = program_process._started
print(address, process.is_copy, flush=True)
import psutil
[found] = [each.pid for each in psutil.net_connections("tcp") if each.laddr and each.laddr.port == int(address[10:])]
print(found)
own = psutil.Process(found)
print(own.cwd() == os.getcwd(), os.readlink(f"/proc/{found}/fd/2") == os.readlink("/proc/self/fd/2"), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""

ASK = """
import os, socket, sys
from simulator import resident
ours, theirs = socket.socketpair()
os.umask(0o027)
sys.path[0] = "/of/the/command"
print(resident.ask_for_command("light_command", theirs.fileno()), flush=True)
theirs.close()
print(ours.makefile().read(), flush=True)
"""

LIGHT_COMMAND = """
import os, sys
def serve(control):
    print("standard output", flush=True)
    os.umask(umask := os.umask(0))
    control.sendall(f"{} {{os.getcwd()}} {{umask:o}} {{sys.path[0]}}".encode())
    os._exit(0)
"""

LIGHT = {
    "AZURE_PACKAGES = (": "AZURE_PACKAGES = ()\n_ = (",
    "KUBERNETES_PACKAGES = (": "KUBERNETES_PACKAGES = ()\n_ = (",
    "GATE_PACKAGES = (": "GATE_PACKAGES = ()\n_ = (",
}
"""Makes a checkout's program load no SDK, which takes most of the time."""


@dataclass(frozen=True)
class Checkout:
    """A checkout with a light program, and a home that has a simulation of it."""

    folder: Path
    home: Home

    @property
    def simulation(self) -> Path:
        return self.home.simulation("dev-westus2", self.folder)

    @property
    def module(self) -> Path:
        """What the program imports. It notes in `loaded` that it was."""
        return self.folder / "light.py"

    @property
    def loaded(self) -> list[str]:
        return (self.folder / "loaded").read_text().split()

    def asked(self, cwd: Path | None = None, setting: str = "on") -> tuple[bool, list[psutil.Process]]:
        """Runs a command that asks for the program's process: whether that was a copy, and the process if it runs."""
        own = {"PYTHONPATH": str(self.folder), HOME_VARIABLE: str(self.home.folder), resident.VARIABLE: setting}
        command = subprocess.run(
            [sys.executable, "-c", COMMAND],
            check=False,
            capture_output=True,
            text=True,
            process_group=0,
            cwd=cwd or self.folder,
            env={**os.environ, **own},
        )
        assert command.returncode == -signal.SIGKILL, command.stderr
        address, is_copy, pid, is_here, same_errors = command.stdout.split()
        assert address.startswith("127.0.0.1:")
        assert (is_here, same_errors) == ("True", "True")
        try:
            return is_copy == "True", [psutil.Process(int(pid))]
        except psutil.NoSuchProcess:
            return is_copy == "True", []

    def answered(self) -> list[str]:
        """What a process prints that asks for a copy which runs a command: whether there is one, and what that does."""
        own = {"PYTHONPATH": str(self.folder), HOME_VARIABLE: str(self.home.folder), resident.VARIABLE: "on"}
        ran = subprocess.run(
            [sys.executable, "-c", ASK],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.home.folder,
            env={**os.environ, **own},
        )
        return ran.stdout.split("\n")[:-1]

    def servers(self) -> list[psutil.Process]:
        return [each for folder in self.home.folder.glob("programs/*") for each in processes.running(folder).values()]

    def end(self) -> None:
        resident.end(self.home.folder, self.folder)


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    made = Checkout(tmp_path / "checkout", Home(tmp_path / "home"))
    for folder in ("parts", "physical_ai", "simulator"):
        shutil.copytree(ROOT / folder, made.folder / folder, ignore=shutil.ignore_patterns("__pycache__"))
    program = made.folder / "simulator" / "program.py"
    text = program.read_text()
    for old, light in LIGHT.items():
        assert old in text
        text = text.replace(old, light)
    program.write_text(text)
    (made.folder / "__main__.py").write_text("from light import VALUE\n")
    made.module.write_text(LIGHT_MODULE.format("first"))
    made.simulation.mkdir(parents=True)
    yield made
    shutil.rmtree(made.simulation, ignore_errors=True)
    made.end()


LIGHT_MODULE = """VALUE = {!r}
with open(__file__.removesuffix("light.py") + "loaded", "a") as file:
    print(VALUE, file=file)
"""


def has_ended(process: psutil.Process) -> bool:
    """Whether it runs no more; who is to take note of its end may still have to."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_without_a_resident_process_it_outlives_an_interrupt_but_not_its_command(checkout: Checkout) -> None:
    is_copy, process = checkout.asked(setting="off")
    assert not is_copy
    assert not psutil.wait_procs(process, timeout=LIMIT)[1]
    assert checkout.servers() == []


def test_each_command_gets_a_copy_of_the_program_as_it_is_until_the_last_simulation_is_gone(
    checkout: Checkout, tmp_path: Path
) -> None:
    is_copy, process = checkout.asked()
    assert is_copy
    assert not psutil.wait_procs(process, timeout=LIMIT)[1], "the copy outlives its command"
    assert checkout.asked(tmp_path)[0], "another working directory"
    assert checkout.loaded == ["first"]
    (server,) = checkout.servers()

    checkout.module.write_text(LIGHT_MODULE.format("changed"))
    assert checkout.asked()[0]
    assert checkout.asked()[0]
    assert checkout.loaded == ["first", "changed"]

    server.kill()
    psutil.wait_procs([server], timeout=LIMIT)
    assert checkout.asked()[0], "a killed process is not replaced"
    (second,) = checkout.servers()
    (folder,) = checkout.home.folder.glob("programs/*")
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o755)
    assert not checkout.asked()[0], "others could connect to this one"
    folder.chmod(0o700)

    checkout.module.write_text("not Python")
    assert not checkout.asked()[0], "a copy of a program that does not load"
    checkout.module.write_text(LIGHT_MODULE.format("third"))
    assert checkout.asked()[0]
    (third,) = checkout.servers()
    assert has_ended(second)

    checkout.end()
    assert third.is_running(), "the checkout still has a simulation"
    shutil.rmtree(checkout.simulation)
    checkout.end()
    assert has_ended(third)
    assert not folder.exists()


def test_a_command_runs_in_a_copy_if_there_is_a_resident_process(checkout: Checkout) -> None:
    command = checkout.folder / "light_command.py"
    command.write_text(LIGHT_COMMAND.format("first"))
    assert checkout.answered() == ["False", ""], "a resident process was started for a command alone"
    assert checkout.servers() == []

    assert checkout.asked()[0]
    home = checkout.home.folder
    asked = ["True", "standard output", f"first {home} 27 /of/the/command"]
    assert sorted(checkout.answered()) == sorted(asked)
    command.write_text(LIGHT_COMMAND.format("changed"))
    assert checkout.answered() == ["True", ""], "a copy of a command that has changed, which runs where it is"
    assert checkout.loaded == ["first"], "the program was loaded for a command that may not need it"
    assert checkout.asked()[0]
    assert f"changed {home} 27 /of/the/command" in checkout.answered()
    assert checkout.loaded == ["first", "first"]

    command.write_text("not Python")
    assert checkout.asked()[0]
    assert checkout.answered() == ["True", ""], "a copy of a command that does not load"
    assert checkout.answered() == ["False", ""]


def test_a_copy_that_does_not_come_is_replaced_by_a_new_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests, answers = os.pipe()
    os.close(answers)
    writing = os.open(os.devnull, os.O_WRONLY)
    broken = program_process.Process(os.fdopen(writing, "w"), os.fdopen(requests), is_copy=True)
    monkeypatch.setattr(program_process, "_started", [broken])
    assert str(program_process.address()).startswith("127.0.0.1:")
    (made,) = program_process._started  # pyright: ignore[reportPrivateUsage]
    assert not made.is_copy
    made.requests.close()
    assert made.answers.read() == ""


def test_a_process_that_has_ended_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert ended.stdin is not None
    assert ended.stdout is not None
    monkeypatch.setattr(program_process, "_started", [program_process.Process(ended.stdin, ended.stdout)])
    with pytest.raises(EngineFailed, match="the program's process has ended"):
        program_process.address()
    assert ended.wait() == os.EX_OK


def test_without_a_process_the_program_runs_in_the_command() -> None:
    assert not program_process.is_started()
    assert program_process.address() is None


def test_a_changed_an_added_and_a_removed_file_are_seen(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("one = 1")
    paths = (str(file), str(tmp_path), str(tmp_path / "none"))
    before = resident_process.stamps(paths)
    assert resident_process.stamps(paths) == before
    os.utime(file, ns=(0, 0))
    changed = resident_process.stamps(paths)
    assert changed[str(file)] != before[str(file)]
    (tmp_path / "other.py").touch()
    added = resident_process.stamps(paths)
    assert added[str(tmp_path)] != changed[str(tmp_path)]
    file.unlink()
    assert resident_process.stamps(paths)[str(file)] == (0, 0, 0)
