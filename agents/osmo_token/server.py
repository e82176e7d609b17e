"""JSON over HTTP, with errors that never contain a secret."""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

SECONDS = 20
LARGEST = 4 << 20
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
    """

    def __init__(
        self,
        url: str,
        bearer: Callable[[], str] | None = None,
        certificate: Path | None = None,
        hidden: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        self._url, self._bearer, self._certificate, self._hidden = url.rstrip("/"), bearer, certificate, hidden

    def request(
        self, method: str, path: str, body: Any = None, kind: str = "application/json", *, anonymous: bool = False
    ) -> Any:
        """The answer's JSON; None for an empty one.

        Raises:
            Refused
        """
        what = f"{method} {path.partition('?')[0]}"
        headers = {"Accept": "application/json", "User-Agent": "physical-ai-osmo-token"}
        if body is not None:
            headers["Content-Type"] = kind
        request = urllib.request.Request(  # noqa: S310 - the addresses are the deployment's own
            self._url + path,
            data=body if body is None or isinstance(body, bytes) else json.dumps(body).encode(),
            method=method,
            headers=headers,
        )
        try:
            if self._bearer is not None and not anonymous:
                # Not passed on where the server redirects to.
                request.add_unredirected_header("Authorization", f"Bearer {self._bearer()}")
            with self._opener().open(request, timeout=SECONDS) as answer:
                text = _whole(answer)
                return json.loads(text) if text else None
        except urllib.error.HTTPError as refusal:
            raise Refused(what, refusal.code, self._shown(message(_refusal(refusal)))) from None
        except (OSError, ValueError, RecursionError, http.client.HTTPException) as problem:
            reason = str(problem) or type(problem).__name__
            raise Refused(what, 0, self._shown(reason)) from None

    def _shown(self, text: str) -> str:
        for secret in self._hidden():
            text = text.replace(secret, "…") if secret else text
        return " ".join(text.split())[:SHOWN]

    def _opener(self) -> urllib.request.OpenerDirector:
        """Directly to the server: no proxy of the environment is for it."""
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({}), _Stay()]
        if self._url.startswith("https:"):
            file = None if self._certificate is None else str(self._certificate)
            handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=file)))
        return urllib.request.build_opener(*handlers)


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
