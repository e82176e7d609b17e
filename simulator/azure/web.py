"""HTTP server of the simulated Azure Resource Manager, for the requests that clients send before a deployment.

Injected faults replace its answers, as if Azure were busy or unavailable, or a proxy interfered.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from simulator.azure.bodies import Json
from simulator.azure.errors import ArmError
from simulator.azure.questions import Questions
from simulator.ports import LOOPBACK

LARGEST_REQUEST = 4 << 20
"""Largest request body in bytes. Larger ones are answered with 413 RequestContentTooLarge (Azure/avdaccelerator#632,
Azure/Azure-Landing-Zones#2644).
"""
ADDRESS = "https://management.azure.com"
"""Address of ARM that clients know, and that its answers contain."""


@dataclass(frozen=True)
class Fault:
    """One answer that replaces ARM's own."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cut: bool = False
    """True if the answer breaks off in the middle."""
    only: str = ""
    """Suffix of the request paths that the fault applies to; empty for all paths."""


@dataclass
class Login:
    """Identity of the caller with a token, or the reason why ARM does not accept the token."""

    caller: str = ""
    refused: tuple[str, str] | None = None
    """Code and message with which ARM refuses the token; None if it accepts the token."""


@dataclass
class ArmWeb:
    """The simulated ARM, served on a loopback address."""

    questions: Questions
    logins: Mapping[str, Login]
    """Logins by token."""
    faults: list[Fault] = field(default_factory=list[Fault])
    """Faults for the next answers. Each fault replaces one answer."""
    retry_after: str | None = "0"
    """Value of the header Retry-After in 202 answers to asynchronous operations; with None the header is left out."""
    asked: list[tuple[str, str, Any]] = field(default_factory=list[tuple[str, str, Any]])
    """Methods, paths and bodies of all requests."""
    _results: dict[str, tuple[int, Json]] = field(default_factory=dict[str, tuple[int, Json]])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def serve(self, port: int = 0) -> tuple[ThreadingHTTPServer, str]:
        """A server that answers in threads until it is closed, and the server's URL. Raises OSError if another process
        has the port.
        """
        server = ThreadingHTTPServer((LOOPBACK, port), _handler(self))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), name="arm", daemon=True).start()
        return server, f"http://{LOOPBACK}:{server.server_address[1]}"

    @contextmanager
    def served(self, port: int = 0) -> Generator[str]:
        """The address of a server that runs until the context ends. Raises OSError."""
        server, address = self.serve(port)
        try:
            yield address
        finally:
            server.shutdown()
            server.server_close()

    def fault(self, path: str) -> Fault | None:
        """Removes the next fault that applies to a path from the list, and returns it; None if no fault applies."""
        with self._lock:
            found = next((each for each in self.faults if path.endswith(each.only)), None)
            if found is not None:
                self.faults.remove(found)
            return found

    def answer(
        self, method: str, path: str, parameters: Mapping[str, str], body: Any, token: str
    ) -> tuple[int, Json | None, dict[str, str]]:
        """HTTP status, JSON body and headers of the answer to a request."""
        with self._lock:
            self.asked.append((method, path, body))
        login = self.logins.get(token, Login(refused=("AuthenticationFailed", "Authentication failed.")))
        if login.refused is not None:
            code, message = login.refused
            return 401, {"error": {"code": code, "message": message}}, {}
        if "/operationresults/" in path:
            return *self._results.get(path, (404, {"error": {"code": "NotFound", "message": "No such result."}})), {}
        if "api-version" not in parameters:
            message = "The api-version query parameter (?api-version=) is required for all requests."
            return 400, {"error": {"code": "MissingApiVersionParameter", "message": message}}, {}
        try:
            status, document = self.questions.answer(method, path, parameters, body, login.caller)
        except ArmError as refused:
            return refused.refusal.status, refused.refusal.body(), {}
        if path.lower().endswith("/whatif"):
            return self._later(path, status, document)
        return status, document, {}

    def _later(self, path: str, status: int, document: Json) -> tuple[int, Json | None, dict[str, str]]:
        """The answer to an asynchronous operation: 202 with the URL of its result."""
        subscription = "/".join(path.split("/")[:3])
        with self._lock:
            where = f"{subscription}/operationresults/{len(self._results) + 1}"
            self._results[where] = (status, document)
        wait = {} if self.retry_after is None else {"Retry-After": self.retry_after}
        return 202, None, {"Location": f"{ADDRESS}{where}?api-version=2022-09-01", **wait}


def _handler(arm: ArmWeb) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or a body waits 40 ms for the acknowledgement of its headers

        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if len(sent) > LARGEST_REQUEST:
                message = "The request content size exceeds the maximum size of 4 MB."
                self._answered(413, {"error": {"code": "RequestContentTooLarge", "message": message}}, {})
            else:
                self._answer(json.loads(sent) if sent.strip() else None)

        def _answer(self, body: Any) -> None:
            address = urlsplit(self.path)
            if (fault := arm.fault(address.path)) is not None:
                self._send(fault.status, fault.body, fault.headers, cut=fault.cut)
                return
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            parameters = dict(parse_qsl(address.query))
            self._answered(*arm.answer(self.command, address.path, parameters, body, token))

        def _answered(self, status: int, document: Json | None, headers: Mapping[str, str]) -> None:
            content = b"" if document is None else json.dumps(document).encode()
            self._send(status, content, {"Content-Type": "application/json", **headers})

        def _send(self, status: int, content: bytes, headers: Mapping[str, str], *, cut: bool = False) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content) * 2 if cut else len(content)))
            self.end_headers()
            self.wfile.write(content)
            self.close_connection = cut

        def log_message(self, format: str, *args: Any) -> None:
            """Prints nothing: requests are recorded in `asked`."""

    return Handler
