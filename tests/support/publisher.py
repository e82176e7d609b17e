"""Publisher of tools on loopback, honest or not, and the row of `releases.toml` that names its files."""

from __future__ import annotations

import http.server
import io
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Request = http.server.BaseHTTPRequestHandler
Answer = Callable[[Request], None]


@contextmanager
def publisher(answers: Mapping[str, Answer]) -> Iterator[str]:
    """Server on loopback that gives an answer for each path; its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers[self.path](self)

        def do_HEAD(self) -> None:
            self.send_error(405)

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def send(content: bytes, length: int | None = None) -> Answer:
    """Answer with a content, and with another length than it has if `length` is given."""

    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(content) if length is None else length))
        request.end_headers()
        request.wfile.write(content)

    return answer


def refuse(status: int) -> Answer:
    """Answer with an error's status."""
    return lambda request: request.send_error(status)


def redirect(target: str) -> Answer:
    """Answer that names another address."""

    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(302)
        request.send_header("Location", target)
        request.end_headers()

    return answer


def endless(request: http.server.BaseHTTPRequestHandler) -> None:
    """Answer that never ends and names no length."""
    request.send_response(200)
    request.end_headers()
    try:
        while True:
            request.wfile.write(b"\0" * 65536)
    except OSError:
        return


def slow(pause: float) -> Answer:
    """Answer of 10 MB, of which a byte comes every `pause` seconds."""

    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "10000000")
        request.end_headers()
        try:
            while True:
                request.wfile.write(b"\0")
                request.wfile.flush()
                time.sleep(pause)  # the server's own slowness, which is what is tested
        except OSError:
            return

    return answer


def program(text: str) -> bytes:
    """Program that prints a text, whatever its arguments are."""
    return f"#!/bin/sh\necho {text}\n".encode()


def archive(name: str, content: bytes, kind: bytes = tarfile.REGTYPE) -> bytes:
    """Archive with a file, or with a link in its place, and with a member that would leave its folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as opened:
        for path, data in ((name, content), ("../../escaped", b"out")):
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), 0o644
            if path == name:
                member.type, member.linkname = kind, "/bin/sh"
            opened.addfile(member, io.BytesIO(data))
    return packed.getvalue()
