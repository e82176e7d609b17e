"""Bringing the installer into the cache: run as the host's job, with the host's network.

`python3 -s -E -m grid_agent.fetch [--packages]` reads `job.json` in $GRID_STATE. Every URL is tried in turn; a broken
download is resumed; a file gets its name in the cache only with the right sha256.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DONE, UNREACHABLE, CHECKSUM, DISK_FULL = 0, 10, 11, 12
TRIES = 4
"""Connections per URL and pass; the agent starts another pass later."""
CHUNK = 1 << 20
LARGEST = 4 << 30
"""Bytes of a file: several times a driver's installer. What goes on longer is another file, or has no end."""
RESERVE = 256 << 20
"""Bytes of the disk that remain free for others, whatever is downloaded."""
WINDOW, SLOWEST = 60.0, 16 << 10
"""Seconds after which a connection is judged, and the bytes a second that it has to bring: one that drips would use up
the job's whole time, and no other URL would be tried."""
SCHEMES = ("https://", "http://", "file://")


class _TooLarge(Exception):
    """The file has more bytes than any that is expected."""


class Failed(Exception):
    """A URL did not give the file. `code` is the job's exit code if no other URL does."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def fetch(urls: Sequence[str], sha256: str, goal: Path, stall: float, pause: float = 1.0) -> None:
    """Put the file with this checksum at `goal`. Raises Failed with the last URL's error.

    `stall`: seconds without a byte before a connection is dropped; `pause`: before the second try, doubling.
    """
    if goal.exists() and digest(goal) == sha256:
        return
    goal.unlink(missing_ok=True)
    part = goal.with_suffix(".part")
    failure = Failed(UNREACHABLE, "no URL is set")
    for url in urls:
        try:
            _fetch_from(url, sha256, part, stall, pause)
        except Failed as error:
            print(f"{url}: {error}", flush=True)
            failure = error
            continue
        os.chmod(part, 0o600)
        os.rename(part, goal)
        _sync(goal.parent)
        return
    raise failure


def _fetch_from(url: str, sha256: str, part: Path, stall: float, pause: float) -> None:
    if not url.startswith(SCHEMES):
        raise Failed(UNREACHABLE, f"the URL begins with none of {', '.join(SCHEMES)}")
    resumed = part.exists() and part.stat().st_size > 0
    _download(url, part, stall, pause)
    if digest(part) == sha256:
        return
    if resumed:  # the earlier part may have been of another file
        part.unlink()
        _download(url, part, stall, pause)
        if digest(part) == sha256:
            return
    found = digest(part)
    part.unlink()
    raise Failed(CHECKSUM, f"the file has sha256 {found[:16]}…, not {sha256[:16]}…")


def _download(url: str, part: Path, stall: float, pause: float) -> None:
    text = ""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            return _receive(url, part, stall)
        except _TooLarge:
            part.unlink(missing_ok=True)
            raise Failed(CHECKSUM, f"the file is larger than {LARGEST >> 20} MiB") from None
        except urllib.error.HTTPError as error:
            if error.code == 416:  # the part on disk is longer than the file
                part.unlink(missing_ok=True)
            text = f"HTTP {error.code} {error.reason}"
        except OSError as error:  # refused, reset, timed out, disk full
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                part.unlink(missing_ok=True)
                raise Failed(DISK_FULL, "the disk is full") from error
            text = str(getattr(error, "reason", error)) or type(error).__name__
        except http.client.HTTPException as error:
            text = f"broken answer: {type(error).__name__}"
    raise Failed(UNREACHABLE, f"{text} ({TRIES} tries)")


def _receive(url: str, part: Path, stall: float) -> None:
    """Append what is missing of the file. Raises OSError where the connection ends early."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - the caller has checked the scheme
    with urllib.request.urlopen(request, timeout=stall) as answer:  # noqa: S310 - likewise
        status = getattr(answer, "status", 200)
        begins = str(answer.headers.get("Content-Range", "")).startswith(f"bytes {have}-")
        append = bool(have) and status == 206 and begins
        length = answer.headers.get("Content-Length")
        left = int(length) if length and length.isdigit() else None
        received = have if append else 0
        if received + (left or 0) > LARGEST:
            raise _TooLarge
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC), 0o600)
        with os.fdopen(descriptor, "ab" if append else "wb") as file:
            begun = received
            window, before = time.monotonic(), received
            while data := answer.read1(CHUNK):  # what arrived before a stall is kept
                received += len(data)
                if received > LARGEST:
                    raise _TooLarge
                _spare(part.parent)
                file.write(data)
                if (passed := time.monotonic() - window) >= WINDOW:
                    if received - before < SLOWEST * passed:
                        raise TimeoutError(f"fewer than {SLOWEST >> 10} KiB/s for {passed:.0f} s")
                    window, before = time.monotonic(), received
            file.flush()
            os.fsync(file.fileno())
        if left is not None and received - begun < left:
            raise ConnectionError(f"cut off after {received - begun} of {left} bytes")


def _spare(folder: Path) -> None:
    """Raises OSError where the disk is nearly full: a full one is a fault of the node, not of a download."""
    found = os.statvfs(folder)
    if found.f_bavail * found.f_frsize < RESERVE:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(CHUNK):
            found.update(data)
    return found.hexdigest()


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_room(cache: Path, keep: Sequence[str]) -> None:
    """Builds that neither the settings nor a rollback needs."""
    for path in cache.glob("*.*"):
        if path.suffix in (".run", ".part") and path.stem not in keep:
            path.unlink(missing_ok=True)


def main(arguments: Sequence[str]) -> int:
    state = Path(os.environ["GRID_STATE"])
    job: dict[str, Any] = json.loads((state / "job.json").read_text())
    cache, stall = state / "cache", float(job["stall_seconds"])
    os.umask(0o077)
    try:
        if "--packages" in arguments:
            goals = {cache / f"{package['sha256']}.deb": package for package in job["packages"]}
            for goal, package in goals.items():
                fetch([package["url"]], package["sha256"], goal, stall)
            (state / "work" / "packages").write_text("".join(f"{goal}\n" for goal in goals))
        else:
            _make_room(cache, job["keep"])
            fetch(job["urls"], job["sha256"], cache / f"{job['sha256']}.run", stall)
    except Failed as error:
        (state / "work" / "sentence").write_text(str(error))
        return error.code
    except OSError as error:
        (state / "work" / "sentence").write_text(f"{error.filename or 'disk'}: {error.strerror}")
        return DISK_FULL if error.errno in (errno.ENOSPC, errno.EDQUOT) else UNREACHABLE
    return DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
