"""Small HTTP servers beside a node, reachable from its network namespace only, and served by this process."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import threading
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.host.namespaces import Network


@cache
def certificate() -> tuple[bytes, bytes]:
    """(certificate, key) in PEM of an API server on loopback; the certificate is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubernetes")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.KeyUsage(
                digital_signature=True, key_cert_sign=True, crl_sign=True,
                content_commitment=False, key_encipherment=False, data_encipherment=False,
                key_agreement=False, encipher_only=False, decipher_only=False,
            ),
            critical=True,
        )
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return made.public_bytes(serialization.Encoding.PEM), private


class Server(ThreadingHTTPServer):
    """Serves on a port of a network namespace until `stop`; may be stopped and started again (refused meanwhile)."""

    daemon_threads = True

    def __init__(
        self, network: Network, port: int, handler: type[BaseHTTPRequestHandler], tls: Path | None = None
    ) -> None:
        super().__init__(("127.0.0.1", port), handler, bind_and_activate=False)
        self.socket.close()
        self._open: set[socket.socket] = set()
        self._context: ssl.SSLContext | None = None
        if tls:
            made, key = certificate()
            (tls / "served.pem").write_bytes(made + key)
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(tls / "served.pem")
        self.socket = network.listen(port)
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def finish_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        """Handshakes happen in the request's own thread: a slow client must not hold up the others."""
        request.settimeout(30)
        if self._context:
            request = self._context.wrap_socket(request, server_side=True)
        self._open.add(request)
        try:
            super().finish_request(request, client_address)  # type: ignore[arg-type]
        finally:
            self._open.discard(request)

    def handle_error(self, request: object, client_address: object) -> None:  # type: ignore[override]
        """Clients that are killed leave broken connections; that is what these tests do to them."""

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
