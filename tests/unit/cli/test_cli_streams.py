"""Output that cannot be written: no traceback, and the exit code that a shell expects."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from physical_ai import disk_errors
from physical_ai.repository import ROOT
from simulator.errors import Interrupted, SimulationError
from workbench.cli import __main__, main, resident_command

FIX = "  Move it away, or name a folder of your own with PHYSAI_HOME.\n"
COMMAND = (sys.executable, "-m", "workbench.cli")


def ended(*arguments: str, stdout: int, unbuffered: str = "") -> tuple[int, str]:
    """Exit code and stderr of a command."""
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    found = subprocess.run(
        [*COMMAND, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT, check=False
    )
    return found.returncode, found.stderr


# In `make test`: a command that prints at its end; the others differ in when they print.
@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [
        pytest.param(("cost", "nope", "--json"), "1", marks=pytest.mark.deep),
        (("sizes",), ""),
        pytest.param(("--help",), "", marks=pytest.mark.deep),
    ],
)
def test_a_reader_that_has_ended_is_no_defect(arguments: tuple[str, ...], unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        code, err = ended(*arguments, stdout=writing, unbuffered=unbuffered)
    finally:
        os.close(writing)
    assert code == 141
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


WORK = """
from workbench.cli.progress import Progress
with Progress() as progress:
    progress.note("one")
    progress.note("two")
raise SystemExit(7)
"""


def test_work_continues_when_the_reader_of_its_progress_has_ended() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        found = subprocess.run([sys.executable, "-c", WORK], stderr=writing, cwd=ROOT, check=False)
    finally:
        os.close(writing)
    assert found.returncode == 7


def test_a_full_disk_is_named() -> None:
    with open("/dev/full", "w") as full:
        code, err = ended("cost", "nope", "--json", stdout=full.fileno())
    assert code == 1
    assert "no space left" in err
    assert "Traceback" not in err


@pytest.mark.deep  # in `make test`: a reader that has ended, above
def test_a_command_runs_without_stdout() -> None:
    found = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "sizes"], stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")


def test_completion_is_printed_without_a_failure() -> None:
    # The command asks which shell has started it.
    in_bash = ["bash", "-c", '"$@"; exit "$?"', "bash", *COMMAND, "--show-completion"]
    shown = subprocess.run(in_bash, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (shown.returncode, "physai" in shown.stdout) == (0, True)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_folder_that_cannot_be_written_is_named_with_what_to_do(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a home on a file system that is read-only."""

    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number), "/home/me/.cache/physical-ai")

    monkeypatch.setattr(main, "_command", lambda: refuse)
    assert main.run(["preview"]) == 1
    said = capsys.readouterr().err
    assert "/home/me/.cache/physical-ai" in said
    assert "PHYSAI_HOME" in said or "no space left" in said


@pytest.mark.parametrize(("problem", "code"), [(Interrupted("stopped"), 130), (SimulationError("failed"), 1)])
def test_a_run_that_was_interrupted_exits_as_an_interrupted_program(
    problem: Exception, code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def end(*_: object, **__: object) -> int:
        raise problem

    monkeypatch.setattr(main, "_command", lambda: end)
    assert main.run(["up", "--json"]) == code
    shown = capfd.readouterr()
    assert json.loads(shown.out)["error"] == {"exitCode": code, "text": str(problem), "faults": []}
    assert str(problem) in shown.err


def test_a_file_where_the_users_folder_has_to_be_is_named_and_another_one_is_a_defect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PHYSAI_HOME", str(tmp_path / "home"))
    for name in ("home", "other"):
        (tmp_path / name).touch()

    def made(name: str) -> Callable[..., None]:
        return lambda *_, **__: (tmp_path / name / "locks").mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(main, "_command", lambda: made("home"))
    assert main.run(["up"]) == 1
    said = capsys.readouterr().err
    assert f"physai: {tmp_path}/home is a file, and a folder has to be there.\n  Move it away, or name a folder" in said
    monkeypatch.setattr(main, "_command", lambda: made("other"))
    with pytest.raises(NotADirectoryError):
        main.run(["up"])


@pytest.mark.parametrize("command", [("first", "dev-westus2"), ("move", "dev-westus2", "h100gpu", "--status")])
def test_a_folder_of_state_that_cannot_be_read_is_not_taken_for_a_damaged_file(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PHYSAI_HOME", str(tmp_path / "home"))
    (tmp_path / "home").touch()
    assert main.run([*command]) == 1
    said = capsys.readouterr().err
    assert said.endswith(f"physai: {tmp_path}/home is a file, and a folder has to be there.\n{FIX}")


def test_a_full_disk_in_the_copy_of_a_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(source: str, _: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", source)

    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "file").touch()

    def copy(*_: object, **__: object) -> None:
        shutil.copytree(tmp_path / "from", tmp_path / "to", copy_function=full, dirs_exist_ok=True)

    monkeypatch.setattr(main, "_command", lambda: copy)
    monkeypatch.setenv("PHYSAI_HOME", str(tmp_path))
    assert main.run(["up"]) == 1
    assert "physai: there is no space left.\n" in capsys.readouterr().err
    monkeypatch.setattr(disk_errors, "FULL_BYTES", 1 << 60)
    assert main.run(["up"]) == 1
    assert f"physai: there is no space left for {tmp_path} (" in capsys.readouterr().err


def test_an_interruption_while_a_command_is_loaded_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupt(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(resident_command, "run", interrupt)
    with pytest.raises(SystemExit) as end:
        __main__.main()
    assert end.value.code == 130
    assert capfd.readouterr().err == "interrupted before the command began; nothing was changed\n"
