"""HTTPS server on loopback that a simulated cluster's API server calls for webhooks, in the controllers' process.

A Service of a simulated cluster leads nowhere, so webhook configurations have this server's address in place of a
Service. The server's address and certificate stay the same when the control plane is restarted.
"""

from __future__ import annotations

import base64
import json
import logging
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from simulator.cluster.objects import Json
from simulator.control_plane.certificates import self_signed
from simulator.ports import LOOPBACK, bound, noted

PORT_FILE, CERTIFICATE, KEY = "webhooks-port.json", "webhooks.crt", "webhooks.key"
"""Names of files in the folder of a control plane: port, certificate and private key of the webhook server."""
log = logging.getLogger("webhooks")

AnswerTo = Callable[[str, Json], Json | None]
"""Function that returns the response to an AdmissionReview request at a path; None if nothing answers there."""


class WebhookServer:
    """Server that answers webhooks in threads from its creation until the process ends."""

    def __init__(self, folder: Path, answer: AnswerTo) -> None:
        certificate, key = folder / CERTIFICATE, folder / KEY
        if not key.exists():
            self_signed(certificate, key, LOOPBACK)
        self.certificate, self.key = certificate.read_bytes(), key.read_bytes()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        file, handler = folder / PORT_FILE, _handler(answer)
        server = bound(lambda port: _Server((LOOPBACK, port), handler), noted(file))
        server.context = context
        self.address = f"https://{LOOPBACK}:{server.server_address[1]}"
        unfinished = file.with_suffix(".new")
        unfinished.write_text(json.dumps(server.server_address[1]))
        unfinished.rename(file)
        threading.Thread(target=server.serve_forever, name="webhooks", daemon=True).start()

    def secret(self) -> dict[str, str]:
        """Data of the Secret with the certificate and its key."""
        pair = {"tls.crt": self.certificate, "tls.key": self.key}
        return {name: base64.b64encode(data).decode() for name, data in pair.items()}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    context: ssl.SSLContext

    def finish_request(self, request: object, client_address: object) -> None:
        """Finishes a request in a thread of its own, so a client that stops during its TLS handshake does not delay
        other clients.
        """
        try:
            secured = self.context.wrap_socket(request, server_side=True)  # type: ignore[arg-type]
        except OSError:
            return
        with secured:
            super().finish_request(secured, client_address)  # type: ignore[arg-type]


def _handler(answer: AnswerTo) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or a body waits 40 ms for the acknowledgement of its headers
        timeout = 300
        """Seconds after which an unused connection is closed. The API server closes such a connection earlier (after 90
        s in Go).
        """

        def do_POST(self) -> None:
            try:
                review: Json = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
                response = answer(self.path.partition("?")[0], review["request"])
            except Exception:
                # A fault in one answer must not end the server. The API server reports the fault; the
                # log has the reason.
                log.exception("%s", self.path)
                self.send_error(500)
                return
            if response is None:
                self.close_connection = True
                return  # as if nothing listened: the API server reports that it could not call the webhook
            document = {
                "apiVersion": "admission.k8s.io/v1",
                "kind": "AdmissionReview",
                "response": {"uid": review["request"]["uid"], **response},
            }
            data = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing: requests need no log."""

    return Handler
