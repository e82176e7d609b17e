"""HTTPS connection to one Kubernetes API server, with the credentials of a kubeconfig."""

from __future__ import annotations

import json
import ssl
import tempfile
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import httpx

from simulator.kubernetes.credentials import Credential, CredentialError, ExecCredentials
from simulator.kubernetes.kubeconfig import Kubeconfig


class Unreachable(Exception):
    """Error if the API server does not answer, or if there is no credential for it. The text names the reason."""


class Connection:
    """Connection to the server of a kubeconfig. Threads may share it."""

    def __init__(
        self, config: Kubeconfig, path: str | None, transport: httpx.BaseTransport | None, timeout: float
    ) -> None:
        """`path`: PATH for exec credential commands. `timeout`: seconds to wait for one answer."""
        self._config, self._transport, self._timeout = config, transport, timeout
        self.server = config.server
        self._exec = ExecCredentials(config, path) if config.exec else None
        self._lock = threading.Lock()
        self._certificate: str = ""
        self.user: dict[str, str] = {}
        """Headers that name another user, whom the server is to take the requests from."""
        self.http = self._connect(config.certificate, config.key)

    def close(self) -> None:
        self.http.close()

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        params: Mapping[str, str] | None,
        content_type: str,
        *,
        accept: str,
    ) -> httpx.Response:
        """The server's answer to a request, whatever its status. Raises Unreachable."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"Accept": accept} | self.user | ({"Content-Type": content_type} if content else {})
        credential = self._credential()
        for last in (False, True):
            sent = headers | self._authorization(credential)
            try:
                response = self.http.request(method, path, content=content, params=params, headers=sent)
            except httpx.RemoteProtocolError as problem:
                # A kept-alive connection that the server closed meanwhile; every request we send may be repeated.
                if last:
                    raise Unreachable(f"{self.server}: {problem}") from None
                continue
            except httpx.HTTPError as problem:
                raise Unreachable(f"{self.server}: {problem or type(problem).__name__}") from None
            if response.status_code == 401 and credential is not None and not last:
                credential = self._credential(rejected=credential)
                continue
            return response
        raise Unreachable(f"{self.server}: no answer")

    def stream(self, path: str, params: Mapping[str, str], *, accept: str) -> AbstractContextManager[httpx.Response]:
        """The server's answer to a GET request, which may go on without an end. Raises Unreachable or
        httpx.HTTPError.
        """
        sent = {"Accept": accept} | self._authorization(self._credential())
        forever = httpx.Timeout(self._timeout, read=None)
        return self.http.stream("GET", path, params=params, headers=sent, timeout=forever)

    def _credential(self, rejected: Credential | None = None) -> Credential | None:
        if self._exec is None:
            return None
        try:
            credential = self._exec.current(rejected)
        except CredentialError as problem:
            raise Unreachable(str(problem)) from None
        with self._lock:
            if credential.certificate and credential.certificate != self._certificate:
                self._certificate = credential.certificate
                self.http = self._connect(credential.certificate.encode(), credential.key.encode())
        return credential

    def _authorization(self, credential: Credential | None) -> dict[str, str]:
        token = credential.token if credential else self._config.token
        return {"Authorization": f"Bearer {token}"} if token else {}

    def _connect(self, certificate: bytes, key: bytes) -> httpx.Client:
        return httpx.Client(
            base_url=self.server,
            verify=self._trust(certificate, key) if self.server.startswith("https") else False,
            transport=self._transport,
            timeout=httpx.Timeout(self._timeout, connect=10),
            trust_env=False,
            limits=httpx.Limits(max_connections=100, max_keepalive_connections=32),
        )

    def _trust(self, certificate: bytes, key: bytes) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cadata=self._config.authority or None)
            if not self._config.verify:
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            if certificate and key:
                with tempfile.NamedTemporaryFile(suffix=".pem") as file:  # created 0600
                    file.write(certificate.rstrip() + b"\n" + key)
                    file.flush()
                    context.load_cert_chain(file.name)
        except ssl.SSLError as problem:
            raise Unreachable(f"kubeconfig: the certificates for {self.server} can't be used ({problem})") from None
        return context
