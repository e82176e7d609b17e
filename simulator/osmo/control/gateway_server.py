"""The gateway's server on loopback, in the process of the cluster's controllers, at a port that stays the same."""

from __future__ import annotations

import json
import logging
import threading
import urllib.parse
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from simulator.osmo.control.gateway import LARGEST_BODY, Answer, Request
from simulator.ports import LOOPBACK, bound, noted

FORM = "application/x-www-form-urlencoded"
PORT_FILE = "osmo-port.json"
"""Name of the file with the gateway's port, in the folder of a control plane."""
log = logging.getLogger("osmo")


def serve(answer: Callable[[Request], Answer], folder: Path) -> ThreadingHTTPServer:
    """Starts a server that answers requests in threads until the process ends, and returns it."""
    file = folder / PORT_FILE
    handler = _handler(answer)
    server = bound(lambda port: _Server((LOOPBACK, port), handler), noted(file))
    unfinished = file.with_suffix(".new")
    unfinished.write_text(json.dumps(server.server_address[1]))
    unfinished.rename(file)
    threading.Thread(target=server.serve_forever, name="osmo", daemon=True).start()
    return server


def address(folder: Path) -> str:
    """URL of the gateway, `http://127.0.0.1:PORT`, for the control plane in this folder; empty before its
    first start.
    """
    file = folder / PORT_FILE
    return f"http://{LOOPBACK}:{json.loads(file.read_text())}" if file.exists() else ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True


def _handler(answer: Callable[[Request], Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def _handle(self) -> None:
            try:
                given = self._given()
            except Exception:
                # A fault in one answer must not end the server. The log has the fault, and never the request.
                log.exception("%s %s", self.command, self.path.partition("?")[0])
                given = Answer(500, {"message": "Internal server error; see the log of the control plane"})
            data = json.dumps(given.document).encode()
            self.send_response(given.code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815 - names of the base class

        def _given(self) -> Answer:
            length = int(self.headers.get("Content-Length") or 0)
            if length > LARGEST_BODY:
                self.close_connection = True
                return Answer(413, {"message": "Payload Too Large"})
            text = self.rfile.read(length)
            try:
                form = self.headers.get("Content-Type", "").startswith(FORM)
                body: Any = dict(urllib.parse.parse_qsl(text.decode())) if form else json.loads(text) if text else None
            except ValueError:
                return Answer(422, {"detail": "the body is not JSON"})
            path, _, query = self.path.partition("?")
            headers = {key.lower(): value for key, value in self.headers.items()}
            parsed = urllib.parse.parse_qs(query, keep_blank_values=True)
            return answer(Request(self.command, urllib.parse.unquote(path), parsed, headers, body))

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing: requests need no log."""

    return Handler
