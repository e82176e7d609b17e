"""Requests to the API server, as JSON, with the rights of the Pod's service account."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import ssl
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SECONDS = 20
LARGEST = 64 << 20
SHOWN = 300
"""How much of a refusal's text is reported."""


class Refused(Exception):
    """The server refuses a request, or does not answer; `code` is its HTTP status, 0 without an answer."""

    def __init__(self, what: str, code: int, reason: str) -> None:
        super().__init__(f"{what}: {code or 'no answer'} {reason}".rstrip())
        self.code = code


class Server:
    def __init__(self, url: str, account: Path) -> None:
        self._url, self._account = url.rstrip("/"), account

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """The answer's object; an empty one for an empty answer. A PATCH is a merge patch. Raises Refused."""
        what = f"{method} {path.partition('?')[0]}"
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Accept": "application/json", "Content-Type": kind}
        data = None if body is None else json.dumps(body).encode()
        try:
            headers["Authorization"] = f"Bearer {(self._account / 'token').read_text().strip()}"
            code, text = exchange(self._url + path, method, data, headers, self._account / "ca.crt")
            if code >= 300:
                raise Refused(what, code, _message(text))
            found: object = json.loads(text) if text else {}
            if not isinstance(found, dict):
                raise ValueError("the answer is no object")
            return cast("dict[str, Any]", found)
        except (OSError, ValueError, RecursionError, http.client.HTTPException) as problem:
            reason = str(problem) or type(problem).__name__
            raise Refused(what, 0, reason) from None


def of_pod(account: Path) -> Server:
    """The server of the cluster that the Pod runs in."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    return Server(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}", account)


def exchange(
    url: str, method: str, data: bytes | None, headers: Mapping[str, str], authority: Path | None
) -> tuple[int, bytes]:
    """Status and body, straight from the server: no proxy of the environment is for it, nor a redirect followed.

    All of it ends after SECONDS. A socket's own limit is for each read, and a slow server sends a byte at a time.

    Args:
        authority: File of what the server's certificate must be of; the system's where it is None.

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
        text = _body(answer)
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


def _body(answer: http.client.HTTPResponse) -> bytes:
    """All of it; nothing of a refusal that cannot be read."""
    try:
        text = answer.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise ValueError(f"the answer is larger than {LARGEST >> 20} MiB")
        if answer.length:
            raise ConnectionError("the answer was cut off")
    except (OSError, ValueError, http.client.HTTPException):
        if answer.status < 300:
            raise
        return b""
    return text


def _message(body: bytes) -> str:
    try:
        return " ".join(str(json.loads(body)["message"]).split())[:SHOWN]
    except (ValueError, KeyError, TypeError, RecursionError):
        return " ".join(body.decode(errors="replace").split())[:SHOWN]
