"""Requests to the API server, as JSON, with the rights of the Pod's service account."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, cast

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
        request = urllib.request.Request(  # noqa: S310 - the address is the cluster's own
            self._url + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Accept": "application/json", "Content-Type": kind},
        )
        try:
            token = (self._account / "token").read_text().strip()
            request.add_unredirected_header("Authorization", f"Bearer {token}")
            with self._opener().open(request, timeout=SECONDS) as answer:
                text = _whole(answer)
            found: object = json.loads(text) if text else {}
            if not isinstance(found, dict):
                raise ValueError("the answer is no object")
            return cast("dict[str, Any]", found)
        except urllib.error.HTTPError as refusal:
            raise Refused(what, refusal.code, _message(_refusal(refusal))) from None
        except (OSError, ValueError, RecursionError, http.client.HTTPException) as problem:
            reason = str(problem) or type(problem).__name__
            raise Refused(what, 0, reason) from None

    def _opener(self) -> urllib.request.OpenerDirector:
        """Directly to the server: no proxy of the environment is for it."""
        context = ssl.create_default_context(cafile=str(self._account / "ca.crt"))
        return urllib.request.build_opener(
            urllib.request.ProxyHandler({}), _Stay(), urllib.request.HTTPSHandler(context=context)
        )


def of_pod(account: Path) -> Server:
    """The server of the cluster that the Pod runs in."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    return Server(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}", account)


class _Stay(urllib.request.HTTPRedirectHandler):
    """The server is the one that was asked: where it redirects to, something else answers in its place."""

    def redirect_request(self, *given: Any, **named: Any) -> None:
        del given, named


def _whole(answer: Any) -> bytes:
    """The whole answer, within the limits of time and size: a socket's own limit is for each read."""
    end = time.monotonic() + SECONDS
    parts: list[bytes] = []
    size = 0
    while part := answer.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise ValueError(f"the answer is larger than {LARGEST >> 20} MiB")
        if time.monotonic() > end:
            raise TimeoutError(f"no complete answer in {SECONDS} s")
    if getattr(answer, "length", 0):
        raise ConnectionError("the answer was cut off")
    return b"".join(parts)


def _refusal(answer: Any) -> bytes:
    """What a refusal says; nothing where that cannot be read either."""
    try:
        return _whole(answer)
    except (OSError, ValueError, http.client.HTTPException):
        return b""


def _message(body: bytes) -> str:
    try:
        return " ".join(str(json.loads(body)["message"]).split())[:SHOWN]
    except (ValueError, KeyError, TypeError, RecursionError):
        return " ".join(body.decode(errors="replace").split())[:SHOWN]
