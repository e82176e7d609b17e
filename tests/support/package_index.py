"""A package index on loopback: the wheels of a folder, with faults by name, and what it lacks from another index."""

from __future__ import annotations

import hashlib
import re
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

Fault = Literal["missing", "cut", "changed", "page"]
"""Fault of a project: the index does not have it, its files end too early, are other files, or are a page of HTML."""
PAGE = b"<!DOCTYPE html><html><body>Please log in to the network.</body></html>"


@dataclass
class PackageIndex:
    """An index in the simple form (PEP 503). `upstream`: address of the index to which it sends whoever asks for a
    project that the folder lacks; empty for none.
    """

    folder: Path
    upstream: str = ""
    faults: dict[str, Fault] = field(default_factory=dict[str, Fault])

    def __enter__(self) -> Self:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/simple"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        _, kind, name, *_ = [*request.path.split("/"), "", ""]
        if kind == "simple":
            self._project(request, name)
        elif (file := self.folder / name).is_file():
            self._file(request, file)
        else:
            request.send_error(HTTPStatus.NOT_FOUND)

    def _project(self, request: BaseHTTPRequestHandler, name: str) -> None:
        files = [each for each in sorted(self.folder.glob("*.whl")) if normal(each.name.split("-")[0]) == name]
        if self.faults.get(name) == "missing":
            request.send_error(HTTPStatus.NOT_FOUND)
        elif files:
            digests = {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in files}
            links = (f'<a href="/files/{each}#sha256={digest}">{each}</a>' for each, digest in digests.items())
            _send(request, "".join(links).encode(), "text/html")
        elif self.upstream:
            request.send_response(HTTPStatus.FOUND)
            request.send_header("Location", f"{self.upstream.rstrip('/')}/{name}/")
            request.end_headers()
        else:
            request.send_error(HTTPStatus.NOT_FOUND)

    def _file(self, request: BaseHTTPRequestHandler, file: Path) -> None:
        content = file.read_bytes()
        match self.faults.get(normal(file.name.split("-")[0])):
            case "cut":
                _send(request, content[: len(content) // 2], "application/zip", length=len(content))
            case "changed":
                _send(request, content + b"more", "application/zip")
            case "page":
                _send(request, PAGE, "text/html")
            case _:
                _send(request, content, "application/zip")


def _send(request: BaseHTTPRequestHandler, content: bytes, kind: str, *, length: int | None = None) -> None:
    request.send_response(HTTPStatus.OK)
    request.send_header("Content-Type", kind)
    request.send_header("Content-Length", str(len(content) if length is None else length))
    request.end_headers()
    request.wfile.write(content)


def normal(name: str) -> str:
    """Name of a project as an index has it."""
    return re.sub(r"[-_.]+", "-", name).lower()
