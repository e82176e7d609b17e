"""Tools on a disk that is full or not ours, and two processes that install at once."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from physical_ai.repository import ROOT
from simulator.tools import BuildFailed, Origin, Progress, install, release, toolbox, transfer
from simulator.tools import __main__ as command
from simulator.tools.families import FAMILIES, Family, locked
from simulator.tools.reporting import ToolLines
from tests.support import publisher
from tests.support.waiting import LIMIT

ETCD = next(family for family in FAMILIES if family.name == "etcd")
CONTENT = publisher.program(f"etcd {ETCD.version()}")
FULL = Path("/dev/full")


def _release(server: str) -> release.Release:
    file = release.ReleaseFile(f"{server}/etcd", hashlib.sha256(CONTENT).hexdigest(), "", {}, "etcd")
    return release.Release((file,), ("--version",))


def _never_built(family: Family, *_: object) -> None:
    raise AssertionError(f"{family.name} would be built")


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full is Linux's")
def test_a_full_disk_is_named_and_not_taken_for_a_fault_of_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "build", _never_built)
    with publisher.publisher({"/etcd": publisher.send(CONTENT)}) as server:
        monkeypatch.setattr(release, "known_release", lambda _: _release(server))  # pyright: ignore
        download = transfer.download
        monkeypatch.setattr(release, "download", lambda url, sha256, _, report: download(url, sha256, FULL, report))
        with pytest.raises(BuildFailed, match=rf"no space left for {tmp_path} \(\d+ MB are free\).*\n.*PHYSAI_HOME"):
            toolbox(tmp_path, families=[ETCD], origin=Origin.AUTO)
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_cache_that_must_not_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def forbidden(path: Path, *_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(Path, "mkdir", forbidden)
    with pytest.raises(BuildFailed, match=rf"{tmp_path} cannot be (read or )?written: .*\n.*PHYSAI_HOME"):
        toolbox(tmp_path, families=[ETCD], origin=Origin.AUTO)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        pytest.param(lambda home: home.write_text("x"), "{home} is a file, and a folder has to be there", id="home"),
        pytest.param(
            lambda home: (home.mkdir(), (home / "tools").touch()), "{home}/tools is a file, and a folder", id="tools"
        ),
        pytest.param(
            lambda home: (home.mkdir(), (home / "tools").symlink_to("/nowhere")),
            "{home}/tools is a link to /nowhere, which does not exist",
            id="a link to nothing",
        ),
        pytest.param(
            lambda home: (home / "tools" / "etcd.lock").mkdir(parents=True),
            "{home}/tools/etcd.lock is a folder, and a file has to be there",
            id="a folder in place of a lock",
        ),
    ],
)
def test_something_else_where_the_cache_has_to_be_is_named(
    tmp_path: Path, made: Callable[[Path], object], said: str
) -> None:
    home = tmp_path / "home"
    made(home)
    with pytest.raises(BuildFailed, match=rf"{said.format(home=home)}.*\n.*PHYSAI_HOME"):
        toolbox(home / "tools", families=[ETCD], origin=Origin.AUTO)


def test_a_full_disk_for_temporary_files_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(install, "build", full)
    with pytest.raises(BuildFailed, match=r"No usable temporary directory found in \['/tmp'\]\.\n.*TMPDIR"):
        toolbox(tmp_path, families=[ETCD], origin=Origin.BUILD)


def test_the_command_that_needs_no_package_says_so_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    home.touch()
    monkeypatch.setenv("PHYSAI_HOME", str(home))
    monkeypatch.setattr(sys, "argv", ["simulator.tools", "--from", "release"])
    assert command.main() == 1
    assert f"error: {home} is a file, and a folder has to be there.\n" in capsys.readouterr().err


def test_any_other_error_is_a_defect_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(install, "build", broken)
    with pytest.raises(OSError, match="Input/output error"):
        toolbox(tmp_path, families=[ETCD], origin=Origin.BUILD)


def test_a_second_process_says_that_it_waits_and_downloads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, asked = list[str](), list[str]()
    waits = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        waits.set()

    def counted(request: publisher.Request) -> None:
        asked.append(request.path)
        publisher.send(CONTENT)(request)

    with publisher.publisher({"/etcd": counted}) as server:
        monkeypatch.setattr(release, "known_release", lambda _: _release(server))  # pyright: ignore
        with locked(tmp_path / "etcd.lock"):
            second = threading.Thread(target=toolbox, args=(tmp_path, ToolLines(say, regular=True).report, [ETCD]))
            second.start()
            assert waits.wait(LIMIT)
            folder = tmp_path / f"etcd-{ETCD.version()}-{release.this_platform()}"
            folder.mkdir()
            (folder / "etcd").write_bytes(CONTENT)
        second.join(LIMIT)
    assert asked == []
    assert said[0] == "waiting for another process that installs etcd"
    assert said[1].startswith("waited for another process that installs etcd")


def test_two_processes_at_once_download_a_tool_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def counted(request: publisher.Request) -> None:
        asked.append(request.path)
        publisher.send(CONTENT)(request)

    with publisher.publisher({"/etcd": counted}) as server:
        checksum = hashlib.sha256(CONTENT).hexdigest()
        code = (
            "import pathlib, sys\n"
            "from simulator.tools import Origin, families, release, toolbox\n"
            f"file = release.ReleaseFile({server!r} + '/etcd', {checksum!r}, '', {{}}, 'etcd')\n"
            "release.known_release = lambda family: release.Release((file,), ('--version',))\n"
            "etcd = [family for family in families.FAMILIES if family.name == 'etcd']\n"
            "print(toolbox(pathlib.Path(sys.argv[1]), families=etcd, origin=Origin.RELEASE).path('etcd').read_text())\n"
        )
        words = [sys.executable, "-S", "-c", code, str(tmp_path / "cache")]
        both = [subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(2)]
        outputs = [each.communicate(timeout=LIMIT)[0] for each in both]
    assert [each.strip() for each in outputs] == [CONTENT.strip()] * 2
    assert asked == ["/etcd"]


def test_what_a_killed_installation_has_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left, of_another = tmp_path / ".etcd-abcdefgh", tmp_path / ".helm-abcdefgh"
    for folder in (left, of_another):
        folder.mkdir()
        (folder / "download").write_bytes(b"half")
    with publisher.publisher({"/etcd": publisher.send(CONTENT)}) as server:
        monkeypatch.setattr(release, "known_release", lambda _: _release(server))  # pyright: ignore
        seen = list[Progress]()
        toolbox(tmp_path, seen.append, [ETCD], Origin.RELEASE)
    assert not left.exists()
    assert of_another.exists()  # another process may be writing it
