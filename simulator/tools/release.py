"""Downloads of commands from their projects' releases; each file is verified against its pinned checksum."""

from __future__ import annotations

import hashlib
import http.client
import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
import time
import tomllib
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from simulator.tools.families import HERE, Family, Progress, Report

DATA = HERE / "releases.toml"
CONNECT_SECONDS = 5.0
"""Seconds for connecting to a server, and for each wait for more data."""
DOWNLOAD_SECONDS = 900.0
MOST_BYTES = 300 << 20
"""Largest accepted size in bytes of a download, and of each command in it. It is three times the largest size that
occurs today.
"""
CHUNK = 1 << 18
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class NoRelease(Exception):
    """Error if the release cannot be used; the text gives the reason."""


class Unreachable(NoRelease):
    """Error if the release's server cannot be reached."""


@dataclass(frozen=True)
class Release:
    """Release file that contains a family's commands for one platform, with its pinned checksum."""

    url: str
    sha256: str
    members: dict[str, str]
    """Path of each command in the archive; empty if the downloaded file itself is the command."""
    check: tuple[str, ...]
    """Arguments with which the command prints its version."""

    @property
    def host(self) -> str:
        """Host name of the release's server."""
        return urllib.parse.urlsplit(self.url).netloc


def this_platform() -> str:
    """Name of the platform, such as `linux-amd64`."""
    machine = platform.machine().lower()
    return f"{platform.system().lower()}-{MACHINES.get(machine, machine)}"


def pinned(family: Family, data: Path = DATA) -> Release:
    """The family's pinned release for this platform.

    Raises:
        NoRelease: no checksum is pinned for the release on this platform.
    """
    row: dict[str, Any] | None = tomllib.loads(data.read_text(encoding="utf-8")).get(family.name)
    version, here = family.version(), this_platform()
    checksum = row["sha256"].get(here) if row is not None and row["version"] == version else None
    if row is None or checksum is None:
        raise NoRelease(f"no checksum is pinned for its release {version} on {here}")
    filled = {command: path.format(version=version, platform=here) for command, path in row["members"].items()}
    return Release(row["url"].format(version=version, platform=here), checksum, filled, tuple(row["check"]))


def download(family: Family, release: Release, folder: Path, report: Report) -> None:
    """Puts the family's commands into `folder`: all of them or, on any error, none.

    Raises:
        Unreachable: no connection.
        NoRelease: the server does not send the file; or the file's checksum, or the version of a command in it, is not
            the pinned one.
    """
    work = Path(tempfile.mkdtemp(prefix=f".{family.name}-", dir=folder.parent))
    try:
        archive = work / "download"
        size = _fetch(family, release, archive, report)
        commands = work / "commands"
        commands.mkdir()
        if release.members:
            _extract(release, archive, commands)
        else:
            archive.rename(commands / next(iter(family.commands.values())))
        for command in family.commands.values():
            _check(commands / command, release, family.version())
        shutil.rmtree(folder, ignore_errors=True)
        commands.rename(folder)
        report(Progress(family.name, "download", size, size, finished=True))
    finally:
        shutil.rmtree(work, ignore_errors=True)


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Redirect handler that follows redirects, such as GitHub's to its storage, but never from HTTPS to
    another scheme.
    """

    def redirect_request(  # noqa: PLR0917 - as urllib defines it
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if not newurl.startswith(f"{req.type}://"):
            raise NoRelease(f"{req.full_url} redirects to {newurl}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetch(family: Family, release: Release, target: Path, report: Report) -> int:
    """Streams the release file to `target` and verifies its checksum; returns its size in bytes."""
    opener = urllib.request.build_opener(_SameScheme)
    end = time.monotonic() + DOWNLOAD_SECONDS
    digest, done, total = hashlib.sha256(), 0, 0
    try:
        with opener.open(release.url, timeout=CONNECT_SECONDS) as response, target.open("wb") as file:
            total = int(response.headers.get("Content-Length") or 0)
            report(Progress(family.name, "download", 0, total))
            while chunk := response.read(CHUNK):
                done += len(chunk)
                if done > MOST_BYTES:
                    raise NoRelease(f"{release.url} is larger than {MOST_BYTES >> 20} MiB")
                if time.monotonic() > end:
                    raise NoRelease(f"{release.url} took longer than {DOWNLOAD_SECONDS:.0f} s")
                digest.update(chunk)
                file.write(chunk)
                report(Progress(family.name, "download", done, total))
    except urllib.error.HTTPError as problem:
        raise NoRelease(f"{release.url} answered {problem.code} {problem.reason}") from None
    except urllib.error.URLError as problem:
        raise Unreachable(f"{release.host} cannot be reached ({problem.reason})") from None
    except (OSError, http.client.HTTPException, ValueError) as problem:
        if done:
            raise NoRelease(f"{release.url} stopped answering ({problem})") from None
        raise Unreachable(f"{release.host} does not answer ({problem})") from None
    if done < total:
        raise NoRelease(f"{release.url} ended after {done} of {total} bytes")
    if digest.hexdigest() != release.sha256:
        raise NoRelease(f"{release.url} has the SHA-256 {digest.hexdigest()}; {release.sha256} is pinned")
    return done


def _extract(release: Release, archive: Path, folder: Path) -> None:
    """Copies the commands that `release` names out of the archive, and nothing else. Each must be a plain file."""
    try:
        with tarfile.open(archive) as opened:
            for command, path in release.members.items():
                member = opened.getmember(path)
                content = opened.extractfile(member) if member.isreg() and member.size <= MOST_BYTES else None
                if content is None:
                    raise NoRelease(f"{path} in {release.url} is not a plain file of at most {MOST_BYTES >> 20} MiB")
                with content, (folder / command).open("wb") as file:
                    shutil.copyfileobj(content, file)
    except (KeyError, tarfile.TarError, EOFError, OSError) as problem:
        raise NoRelease(f"{release.url} cannot be unpacked ({problem})") from None


def _check(command: Path, release: Release, version: str) -> None:
    command.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "TMPDIR")}
    try:
        done = subprocess.run(
            [command, *release.check], capture_output=True, text=True, timeout=30, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NoRelease(f"{command.name} from {release.url} does not run ({problem})") from None
    if version.removeprefix("v") not in done.stdout:
        raise NoRelease(f"{command.name} from {release.url} is not {version}: {done.stdout.strip()[:100]!r}")
