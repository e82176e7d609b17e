"""HTTP server for the exporters on loopback, at a port that stays the same when the control plane is restarted."""

from __future__ import annotations

import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from simulator.metrics.alertmanager import NOTIFICATIONS
from simulator.metrics.exporters import JSON_TYPE, Answer, AnswerTo
from simulator.metrics.notifications import LONGEST, Notifications
from simulator.metrics.port_file import METRICS_FILE
from simulator.ports import LOOPBACK, bound, noted

log = logging.getLogger("metrics")


def serve(answer: AnswerTo, folder: Path) -> ThreadingHTTPServer:
    """Starts a server that answers requests in threads until the process ends, and returns it."""
    file = folder / METRICS_FILE
    handler = _handler(answer)
    server = bound(lambda port: _Server((LOOPBACK, port), handler), noted(file))
    unfinished = file.with_suffix(".new")
    unfinished.write_text(json.dumps(server.server_address[1]))
    unfinished.rename(file)
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    """Number of connections that may wait for the server. The number is high because a scrape of a thousand targets
    goes to one address.
    """


def _handler(answer: AnswerTo) -> type[BaseHTTPRequestHandler]:
    notifications = Notifications()

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            if self.path == f"/{NOTIFICATIONS}":
                self._send(Answer(200, notifications.document(), JSON_TYPE))
                return
            try:
                given = answer(self.path, self.headers.get("Host", ""))
            except Exception:
                # A fault in one answer must not end the server. The log has the fault.
                log.exception("%s", self.path)
                given = Answer(500, "the model failed; see the log of the control plane\n")
            self._send(given)

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            size = int(length) if length.isdecimal() else 0
            taken = size <= LONGEST and notifications.take(self.path, self.rfile.read(size))
            self._send(Answer(200, "") if taken else Answer(400, "this is no notification\n"))

        def _send(self, given: Answer) -> None:
            data = given.text.encode()
            self.send_response(given.code)
            self.send_header("Content-Type", given.type)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing, because scrapes need no log."""

    return Handler
