"""The server that drivers are downloaded from, with what goes wrong on the way."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Literal

from tests.host.namespaces import Network
from tests.host.servers import Server
from tests.support.waiting import LIMIT

PORT = 8080
Trouble = Literal["", "missing", "unavailable", "truncated", "slow", "stalled", "no-ranges", "cuts"]


@dataclass
class Mirror:
    """`files` by path. `trouble` holds forevery file; `truncated` forever, `cuts` only so that a resume gets on."""

    network: Network
    port: int = PORT
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    trouble: Trouble = ""
    first: list[Trouble] = field(default_factory=list[Trouble])
    """Troubles of the next requests, one each, before `trouble` holds."""
    requests: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """(path, Range header) of every GET."""
    half_way: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    server: Server | None = None

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"

    def start(self) -> None:
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # or a body waits 40 ms for the acknowledgement of its headers
            trouble: Trouble = ""

            def log_message(self, format: str, *args: object) -> None: ...

            def do_HEAD(self) -> None:
                self._answer(body=False)

            def do_GET(self) -> None:
                mirror.requests.append((self.path, self.headers.get("Range", "")))
                self.trouble = mirror.first.pop(0) if mirror.first else mirror.trouble
                self._answer(body=True)

            def _answer(self, *, body: bool) -> None:
                content = mirror.files.get(self.path.lstrip("/"))
                if content is None or self.trouble in ("missing", "unavailable"):
                    self.send_response(503 if self.trouble == "unavailable" else 404)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
                start = int(wanted[1]) if wanted and self.trouble != "no-ranges" else 0
                if start >= len(content):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(content)}")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                if start:
                    self.send_response(206)
                    self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
                else:
                    self.send_response(200)
                self.send_header("Content-Length", str(len(content) - start))
                if self.trouble != "no-ranges":
                    self.send_header("Accept-Ranges", "bytes")
                self.end_headers()
                if body:
                    self._send(content[start:], len(content))

            def _send(self, rest: bytes, size: int) -> None:
                match self.trouble:
                    case "truncated":
                        self.wfile.write(rest[: max(0, size // 2 - (size - len(rest)))])
                    case "cuts":
                        self.wfile.write(rest[: size // 3 + 1])
                    case "stalled":
                        self.wfile.write(rest[: len(rest) // 2])
                        self.wfile.flush()
                        mirror.half_way.set()
                        mirror.go_on.wait(LIMIT)
                    case "slow":
                        for part in range(0, len(rest), 1 << 18):
                            self.wfile.write(rest[part : part + (1 << 18)])
                            self.wfile.flush()
                            mirror.go_on.wait(0.02)
                        return
                    case _:
                        self.wfile.write(rest)
                        return
                self.close_connection = True

        self.server = Server(self.network, self.port, Handler)

    def stop(self) -> None:
        """Connections are refused from here on."""
        self.go_on.set()
        if self.server:
            self.server.stop()
            self.server = None
