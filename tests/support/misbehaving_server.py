"""Local server that answers every request in one wrong way."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping

Behavior = Callable[[socket.socket], None]
PAUSE = 0.02
"""Pause, in seconds, between two parts of an answer that is sent slowly."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNK = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
ITEM = {"metadata": {"name": "a"}}


def answer(body: bytes, status: str = "200 OK", **headers: str) -> Behavior:
    """Behavior that sends a complete answer."""
    lines = {"Content-Length": str(len(body)), **{key.replace("_", "-"): value for key, value in headers.items()}}
    head = "".join(f"{key}: {value}\r\n" for key, value in lines.items())
    return lambda line: line.sendall(f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body)


def document(value: object, status: str = "200 OK", **headers: str) -> Behavior:
    return answer(json.dumps(value).encode(), status, **headers)


def raw(data: bytes) -> Behavior:
    """Behavior that sends bytes and closes the connection."""
    return lambda line: line.sendall(data)


def endless(first: bytes, part: bytes, pause: float = 0.0) -> Behavior:
    """Behavior that sends bytes without end, until the client closes the connection."""

    def act(line: socket.socket) -> None:
        line.sendall(first)
        while True:
            line.sendall(part)
            time.sleep(pause)

    return act


def silence(line: socket.socket) -> None:
    while line.recv(1 << 16):
        pass


def deep(depth: int) -> bytes:
    return b'{"items": ' + b"[" * depth + b"]" * depth + b"}"


PAGE = b"<!DOCTYPE html><html><title>Sign in \x1b[31m</title></html>"
WRONG: Mapping[str, Behavior] = {
    "drips its body": endless(HEAD + b"Content-Length: 9999999\r\n\r\n", b" ", PAUSE),
    "drips its body to the end of the connection": endless(HEAD + b"Connection: close\r\n\r\n", b" ", PAUSE),
    "drips chunks": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", PAUSE),
    "drips its headers": endless(b"HTTP/1.1 200 OK\r\n", b"X", PAUSE),
    "drips its status": endless(b"HTTP/1.1 200", b" ", PAUSE),
    "goes on before it begins": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", PAUSE),
    "does not end": endless(HEAD + b"\r\n", b" " * (1 << 16)),
    "does not end its chunks": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", CHUNK),
    "does not end its headers": endless(HEAD, b"X-A: " + b"x" * 1000 + b"\r\n"),
    "is silent": silence,
    "hangs up": raw(b""),
    "speaks something else": raw(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "has a length that is no number": raw(HEAD + b"Content-Length: many\r\n\r\n{}"),
    "cuts its body": raw(HEAD + b"Content-Length: 100\r\n\r\n{"),
    "cuts its chunks": raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n64\r\n{"),
    "cuts its document": answer(b'{"items": [{"metadata": {"na'),
    "is a login page": answer(PAGE, Content_Type="text/html"),
    "is empty": answer(b""),
    "has no content": raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "writes Latin-1": answer('{"kind": "é"}'.encode("latin-1")),
    "packs what it sends": answer(gzip.compress(b"{}"), Content_Encoding="gzip"),
    "nests without end": answer(deep(10_000)),
    "nests deeply": answer(deep(200)),
    "writes numbers that are none": answer(b'{"items": [NaN, Infinity]}'),
    "writes a number without end": answer(b'{"items": [' + b"9" * 5000 + b"]}"),
    "sends a list": document([]),
    "sends a text": document("nodes"),
    "sends null": document(None),
    "has items that are none": document({"items": {"a": 1}}),
    "has null for an item": document({"items": [None]}),
    "has labels in a list": document({"items": [{"metadata": {"name": "a", "labels": [1]}}]}),
    "has an item without metadata": document({"items": [{"spec": None}]}),
    "redirects": answer(b"", "302 Found", Location="https://user:secret@login.example/start?token=secret"),
    "redirects to itself": answer(b"", "307 Temporary Redirect", Location="/api/v1/nodes"),
    "redirects nowhere": answer(b"", "301 Moved"),
    "is busy for a day": document({"message": "busy"}, "429 Too Many Requests", Retry_After="86400"),
    "is busy for ever": document({"message": "busy"}, "429 Too Many Requests", Retry_After="0"),
    "is busy until it cannot say": document({"message": "busy"}, "429 Too Many Requests", Retry_After="\x07soon"),
    "is down for maintenance": answer(PAGE, "503 Service Unavailable", Retry_After="9" * 500),
    "is down": answer(PAGE, "502 Bad Gateway"),
    "has a status that is none": raw(b"HTTP/1.1 999999 ?\r\n\r\n"),
    "refuses with nonsense": document([[]], "500 Internal Server Error"),
    "goes on with the same page": document({"items": [ITEM], "metadata": {"continue": "again"}}),
    "has a next page that is none": document({"items": [ITEM], "metadata": {"continue": ["x"]}}),
}  # fmt: skip
"""Wrong behavior of a server, by a description."""


@contextlib.contextmanager
def served(behaviors: Callable[[str], Behavior]) -> Iterator[str]:
    """Address of a server. For each request (`GET /path`), `behaviors` returns the server's behavior. A connection
    serves one request.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    open_lines: list[socket.socket] = []

    def serve(line: socket.socket) -> None:
        with line, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head and (part := line.recv(1 << 16)):
                head += part
            behaviors(" ".join(head.decode("latin-1").split(" ")[:2]))(line)
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_WR)

    def accept() -> None:
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                return
            open_lines.append(line)
            threading.Thread(target=serve, args=(line,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for line in open_lines:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        thread.join()
