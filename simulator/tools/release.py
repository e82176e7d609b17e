"""Downloads of commands from their projects' releases; each file is verified against a checksum: one that is pinned
here, or else the publisher's own, which the first download records.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.tools.families import HERE, Family, Progress, Report
from simulator.tools.first_use import Record
from simulator.tools.transfer import MOST_BYTES, NoRelease, download, host_of, size_of

DATA = HERE / "releases.toml"
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
CHIPS = {"amd64": "x64", "arm64": "arm64"}
"""Names of machines in the releases of Pulumi."""


@dataclass(frozen=True)
class ReleaseFile:
    """One file of a release, and its checksum or the place where the publisher names it."""

    url: str
    sha256: str
    """The pinned checksum; empty if none is pinned."""
    published: str
    """Address of the publisher's checksum, or of its list of them; empty if one is pinned."""
    members: Mapping[str, str]
    """Path of each command in the archive; empty if the file itself is the command."""
    command: str
    """Name of the command that the file is; empty for an archive."""


@dataclass(frozen=True)
class Release:
    """The publisher's release of one family of tools (such as Kubernetes, with several commands), for one platform."""

    files: tuple[ReleaseFile, ...]
    check: tuple[str, ...]
    """Arguments with which a command prints its version."""

    @property
    def host(self) -> str:
        """Host name of the release's server."""
        return host_of(self.files[0].url)


def this_platform() -> str:
    """Name of the platform, such as `linux-amd64`."""
    machine = platform.machine().lower()
    return f"{platform.system().lower()}-{MACHINES.get(machine, machine)}"


def known_release(family: Family, data: Path = DATA) -> Release:
    """The family's release for this platform.

    Raises:
        NoRelease: its checksum is neither pinned nor published.
    """
    row: dict[str, Any] | None = tomllib.loads(data.read_text(encoding="utf-8")).get(family.name)
    version, here = family.version(), this_platform()
    checksum = row.get("sha256", {}).get(here, "") if row is not None and row["version"] == version else ""
    published = row is not None and row["version"] == version and here in row.get("platforms", ())
    if row is None or not (checksum or published):
        raise NoRelease(f"no checksum is known for its release {version} on {here}")
    return Release(tuple(_files(family, row, here, checksum)), tuple(row["check"]))


def _files(family: Family, row: Mapping[str, Any], here: str, checksum: str) -> Iterator[ReleaseFile]:
    system, machine = here.split("-")
    version = family.version()
    words = {
        "version": version, "number": version.removeprefix("v"), "platform": here,
        "system": system, "machine": machine, "chip": CHIPS.get(machine, machine),
    }  # fmt: skip
    own = "" if checksum else row["published"]
    if row.get("members"):
        members = {command: path.format(**words) for command, path in row["members"].items()}
        yield ReleaseFile(row["url"].format(**words), checksum, own.format(**words), members, "")
        return
    for command in family.commands.values():
        named = {**words, "command": command}
        yield ReleaseFile(row["url"].format(**named), checksum, own.format(**named), {}, command)


def download_release(family: Family, release: Release, folder: Path, report: Report, record: Record) -> None:
    """Puts the family's commands into `folder`: all of them or, on any error, none.

    Raises:
        Unreachable: no connection.
        NoRelease: the server does not send a file; or a file's checksum, or the version of a command in it, is not the
            expected one.
        OSError: the disk is full, or the folder is not writable.
    """
    work = Path(tempfile.mkdtemp(prefix=f".{family.name}-", dir=folder.parent))
    try:
        commands = work / "commands"
        commands.mkdir()
        report(Progress(family.name, "download", 0, 0))
        checksums = {each.url: each.sha256 or record.checksum(each.url, each.published) for each in release.files}
        size = _fetch(family, release, checksums, work, report)
        for command in family.commands.values():
            _check(commands / command, release, family.version())
        trusted = record.add(
            {each.url: (checksums[each.url], each.published) for each in release.files if each.published}
        )
        shutil.rmtree(folder, ignore_errors=True)
        commands.rename(folder)
        warning = f"no checksum of it is pinned; its publisher's is now recorded in {record.file}" if trusted else ""
        report(Progress(family.name, "download", size, size, finished=True, warning=warning))
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _fetch(family: Family, release: Release, checksums: Mapping[str, str], work: Path, report: Report) -> int:
    """Downloads the release's files, and moves their commands into the folder `commands`; returns their size in
    bytes.
    """
    sizes = [size_of(each.url) for each in release.files] if len(release.files) > 1 else [0]
    archive, before = work / "download", 0
    for file in release.files:

        def downloaded(done: int, total: int, before: int = before) -> None:
            report(Progress(family.name, "download", before + done, sum(sizes) if all(sizes) else total))

        before += download(file.url, checksums[file.url], archive, downloaded)
        if file.command:
            archive.rename(work / "commands" / file.command)
        else:
            _extract(file, archive, work / "commands")
            archive.unlink()
    return before


def _extract(file: ReleaseFile, archive: Path, folder: Path) -> None:
    """Copies the commands that `file` names out of the archive, and nothing else. Each must be a plain file."""
    try:
        with tarfile.open(archive) as opened:
            for command, path in file.members.items():
                member = opened.getmember(path)
                content = opened.extractfile(member) if member.isreg() and member.size <= MOST_BYTES else None
                if content is None:
                    raise NoRelease(f"{path} in {file.url} is not a plain file of at most {MOST_BYTES >> 20} MiB")
                with content, (folder / command).open("wb") as copy:
                    shutil.copyfileobj(content, copy)
    except (KeyError, tarfile.TarError, EOFError) as problem:
        raise NoRelease(f"{file.url} cannot be unpacked ({problem})") from None


def _check(command: Path, release: Release, version: str) -> None:
    command.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "TMPDIR")}
    source = release.host
    try:
        done = subprocess.run(
            [command, *release.check],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NoRelease(f"{command.name} from {source} does not run ({problem})") from None
    if version.removeprefix("v") not in done.stdout:
        raise NoRelease(f"{command.name} from {source} is not {version}: {done.stdout.strip()[:100]!r}")
