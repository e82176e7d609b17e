"""Transfers of files from the servers of projects: bounded in size and time, and refused if a byte is not as expected.

Every error of the network or of the server becomes `NoRelease`, after which the caller builds the tool. An error of the
local disk stays an `OSError`, because a build would fail for the same reason.
"""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

CONNECT_SECONDS = 5.0
"""Seconds for connecting to a server, and for each wait for more data."""
DOWNLOAD_SECONDS = 900.0
SLOW_SECONDS = 30.0
"""Seconds after which a download is given up if at its speed it would take longer than `DOWNLOAD_SECONDS`."""
MOST_BYTES = 300 << 20
"""Largest accepted size in bytes of a download, and of each command in it. It is three times the largest size that
occurs today.
"""
MOST_BYTES_OF_TEXT = 1 << 20
"""Largest accepted size in bytes of a list of checksums."""
CHUNK = 1 << 18


class NoRelease(Exception):
    """Error if the release cannot be used; the text gives the reason in one line."""


class Unreachable(NoRelease):
    """Error if the release's server cannot be reached."""


def host_of(url: str) -> str:
    """Host name and port of a URL's server."""
    return urllib.parse.urlsplit(url).netloc


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


@contextmanager
def _answer(url: str, method: str = "GET") -> Generator[http.client.HTTPResponse]:
    """The server's answer, while the block reads it.

    Raises:
        Unreachable: no connection, or no answer.
        NoRelease: any other answer than the file, or none to the end.
    """
    opener = urllib.request.build_opener(_SameScheme)
    begun = False
    try:
        with opener.open(urllib.request.Request(url, method=method), timeout=CONNECT_SECONDS) as response:  # noqa: S310 - only pinned URLs
            begun = True
            yield response
    except urllib.error.HTTPError as problem:
        loop = "infinite loop" in str(problem.reason)
        said = "redirects in a loop" if loop else f"answered {problem.code} {_line(problem.reason)}"
        raise NoRelease(f"{url} {said}") from None
    except urllib.error.URLError as problem:
        raise Unreachable(f"{host_of(url)} cannot be reached ({_line(problem.reason)})") from None
    except _LocalDisk as problem:
        raise problem.error from None
    except (OSError, http.client.HTTPException, ValueError) as problem:
        if begun:
            raise NoRelease(f"{url} stopped answering ({_line(problem)})") from None
        raise Unreachable(f"{host_of(url)} does not answer ({_line(problem)})") from None


class _LocalDisk(Exception):
    """Wrapper of an error of the local disk, which tells it from one of the network."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


def _line(reason: object) -> str:
    return " ".join(str(reason).split())


def text_of(url: str) -> str:
    """A short text, such as a list of checksums. Raises NoRelease."""
    end = time.monotonic() + SLOW_SECONDS
    parts: list[bytes] = []
    with _answer(url) as response:
        while part := response.read1(CHUNK):
            parts.append(part)
            if sum(map(len, parts)) > MOST_BYTES_OF_TEXT:
                raise NoRelease(f"{url} is larger than {MOST_BYTES_OF_TEXT >> 20} MiB")
            if time.monotonic() > end:
                raise NoRelease(f"{url} took longer than {SLOW_SECONDS:.0f} s")
    return b"".join(parts).decode(errors="replace")


def size_of(url: str) -> int:
    """Size in bytes that the server names for a file; 0 if it names none."""
    try:
        with _answer(url, "HEAD") as response:
            return _named_size(response)
    except NoRelease:
        return 0


def _named_size(response: http.client.HTTPResponse) -> int:
    named = response.headers.get("Content-Length") or ""
    return int(named) if named.isdigit() else 0


def download(url: str, sha256: str, target: Path, report: Callable[[int, int], None]) -> int:
    """Streams a file to `target` and verifies its checksum; returns its size in bytes.

    Args:
        report: Function that is called with the downloaded bytes and the total, which is 0 if the server names none.

    Raises:
        Unreachable: no connection.
        NoRelease: the server does not send the file, or the file's checksum is not `sha256`.
        OSError: the file cannot be written.
    """
    digest, done, begun = hashlib.sha256(), 0, time.monotonic()
    with target.open("wb") as file, _answer(url) as response:
        total = _named_size(response)
        if total > MOST_BYTES:
            raise NoRelease(f"{url} is larger than {MOST_BYTES >> 20} MiB")
        report(0, total)
        # `read` would wait until a whole chunk is there, which a slow server could delay for hours.
        while chunk := response.read1(CHUNK):
            done += len(chunk)
            if done > MOST_BYTES:
                raise NoRelease(f"{url} is larger than {MOST_BYTES >> 20} MiB")
            _refuse_slow(url, done, total, time.monotonic() - begun)
            digest.update(chunk)
            try:
                file.write(chunk)
            except OSError as problem:
                raise _LocalDisk(problem) from None
            report(done, total)
    if done < total:
        raise NoRelease(f"{url} ended after {done} of {total} bytes")
    if digest.hexdigest() != sha256:
        raise NoRelease(f"{url} has the SHA-256 {digest.hexdigest()}, not {sha256}")
    return done


def _refuse_slow(url: str, done: int, total: int, elapsed: float) -> None:
    if elapsed > DOWNLOAD_SECONDS:
        raise NoRelease(f"{url} took longer than {DOWNLOAD_SECONDS:.0f} s")
    if elapsed > SLOW_SECONDS and done / elapsed * DOWNLOAD_SECONDS < total:
        speed = done / elapsed / 1e3
        raise NoRelease(f"{url} is sent at {speed:.1f} kB/s, and would take longer than {DOWNLOAD_SECONDS:.0f} s")
