"""JSON over HTTP for the programs in this folder that talk to servers, with errors that never contain a secret.

This module is mounted into each program's Pod, beside its package.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SECONDS = 20
LARGEST = 16 << 20
SHOWN = 300
"""How much of a refusal's text is reported."""
TRANSIENT = frozenset({0, 408, 425, 429, 500, 502, 503, 504})
"""Statuses that another try may not get; 0 is no answer."""


class Refused(Exception):
    """A server refuses a request, or does not answer; `code` is its HTTP status, 0 without an answer."""

    def __init__(self, what: str, code: int, reason: str) -> None:
        super().__init__(f"{what}: {code or 'no answer'} {reason}".rstrip())
        self.code, self.reason = code, reason

    @property
    def is_transient(self) -> bool:
        return self.code in TRANSIENT


class Server:
    """Requests to one server.

    Args:
        url: Where its paths begin.
        bearer: What authorizes a request; read for each, since it is renewed.
        certificate: File of the authority that its certificate must be of; the system's where it is None.
        hidden: Texts that no error may contain.
        largest: Bytes of an answer that are read.
    """

    def __init__(
        self,
        url: str,
        bearer: Callable[[], str] | None = None,
        certificate: Path | None = None,
        hidden: Callable[[], frozenset[str]] = frozenset,
        largest: int = LARGEST,
    ) -> None:
        self._url, self._bearer, self._certificate = url.rstrip("/"), bearer, certificate
        self._hidden, self._largest = hidden, largest

    def request(self, method: str, path: str, body: Any = None, kind: str = "", *, anonymous: bool = False) -> Any:
        """The answer: its JSON; None for an empty one. A PATCH is a merge patch, where `kind` does not say what it is.

        Raises:
            Refused
        """
        what = f"{method} {path.partition('?')[0]}"
        headers = {"Accept": "application/json", "User-Agent": "physical-ai"}
        if body is not None:
            headers["Content-Type"] = kind or f"application/{'merge-patch+' * (method == 'PATCH')}json"
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            if self._bearer is not None and not anonymous:
                headers["Authorization"] = f"Bearer {self._bearer()}"
            code, text = exchange(self._url + path, method, data, headers, self._certificate, largest=self._largest)
            if code >= 300:
                raise Refused(what, code, self._shown(message(text)))
            return self._read(text)
        except (OSError, ValueError, RecursionError, http.client.HTTPException) as problem:
            reason = str(problem) or type(problem).__name__
            raise Refused(what, 0, self._shown(reason)) from None

    def _read(self, text: bytes) -> Any:
        return json.loads(text) if text else None

    def _shown(self, text: str) -> str:
        for secret in self._hidden():
            text = text.replace(secret, "…") if secret else text
        return " ".join(text.split())[:SHOWN]


class ApiServer(Server):
    """A cluster's API server, with the rights of a Pod's service account."""

    def __init__(self, url: str, account: Path, largest: int = LARGEST) -> None:
        # kubelet renews the token in its file.
        super().__init__(
            url, lambda: (account / "token").read_text().strip(), certificate=account / "ca.crt", largest=largest
        )

    def _read(self, text: bytes) -> Any:
        """The object; an empty one for an empty answer."""
        found: object = json.loads(text) if text else {}
        if not isinstance(found, dict):
            raise ValueError("the answer is no object")
        return cast("dict[str, Any]", found)


def of_pod(account: Path = ACCOUNT, largest: int = LARGEST) -> ApiServer:
    """The API server of the cluster that the Pod runs in."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    return ApiServer(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}", account, largest)


def exchange(
    url: str, method: str, data: bytes | None, headers: Mapping[str, str], authority: Path | None, *, largest: int
) -> tuple[int, bytes]:
    """Status and body, straight from the server: no proxy of the environment is for it, nor a redirect followed.

    All of it ends after SECONDS. A socket's own limit is for each read, and a slow server sends a byte at a time.

    Args:
        authority: File of what the server's certificate must be of; the system's where it is None.
        largest: Bytes of a body that are read.

    Raises:
        OSError, ValueError, http.client.HTTPException: No whole answer within the limits of time and size.
    """
    at = urlsplit(url)
    if at.scheme == "https":
        tls = ssl.create_default_context(cafile=None if authority is None else str(authority))
        line: http.client.HTTPConnection = http.client.HTTPSConnection(at.netloc, timeout=SECONDS, context=tls)
    else:
        line = http.client.HTTPConnection(at.netloc, timeout=SECONDS)
    late = threading.Event()
    held: list[socket.socket] = []

    def cut() -> None:
        late.set()
        for each in held:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(each, socket.SHUT_RDWR)  # past TLS, which would wait for the other side

    clock = threading.Timer(SECONDS, cut)
    clock.daemon = True
    clock.start()
    try:
        line.connect()
        held.append(line.sock)
        if late.is_set():
            raise TimeoutError
        line.request(method, f"{at.path or '/'}{'?' * bool(at.query)}{at.query}", data, dict(headers))
        answer = line.getresponse()
        text = _body(answer, largest)
        if late.is_set() and answer.status < 300:
            raise TimeoutError
        return answer.status, text
    except (OSError, ValueError, http.client.HTTPException):
        if late.is_set():
            raise TimeoutError(f"no complete answer in {SECONDS} s") from None
        raise
    finally:
        clock.cancel()
        line.close()


def _body(answer: http.client.HTTPResponse, largest: int) -> bytes:
    """All of it; nothing of a refusal that cannot be read."""
    try:
        text = answer.read(largest + 1)
        if len(text) > largest:
            raise ValueError(f"the answer is larger than {largest >> 20} MiB")
        if answer.length:
            raise ConnectionError("the answer was cut off")
    except (OSError, ValueError, http.client.HTTPException):
        if answer.status < 300:
            raise
        return b""
    return text


def message(body: bytes) -> str:
    """The text of a refusal: Kubernetes and OSMO write it under `message`, FastAPI under `detail`."""
    try:
        found: Mapping[str, Any] = json.loads(body)
        nested = found.get("error")  # Azure writes {"error": {"code": …, "message": …}}, Entra "error_description"
        if isinstance(nested, dict):
            found = cast("Mapping[str, Any]", nested)
        return str(found.get("message") or found.get("error_description") or found.get("detail") or found)
    except (ValueError, AttributeError, RecursionError):
        return body.decode(errors="replace")
