"""The API server, with the rights of the Pod's service account."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, cast

SECONDS = 20
LARGEST = 16 << 20


class Refused(Exception):
    """The API server refuses a request, or does not answer; `code` is its HTTP status, 0 without an answer."""

    def __init__(self, what: str, code: int, reason: str) -> None:
        super().__init__(f"{what}: {code or 'no answer'} {reason}")
        self.code = code


class Api:
    """Requests to one API server."""

    def __init__(self, url: str, account: Path) -> None:
        self._url, self._account = url.rstrip("/"), account

    def request(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """The answer's object. A PATCH is a merge patch.

        Raises:
            Refused
        """
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = urllib.request.Request(  # noqa: S310 - the address is the cluster's own
            self._url + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Content-Type": kind, "Accept": "application/json", "User-Agent": "gpu-evidence"},
        )
        what = f"{method} {path.partition('?')[0]}"
        try:
            # The token is renewed in the file.
            token = (self._account / "token").read_text().strip()
            request.add_unredirected_header("Authorization", f"Bearer {token}")
            with self._opener().open(request, timeout=SECONDS) as answer:
                found: object = json.loads(answer.read(LARGEST))
        except urllib.error.HTTPError as refusal:
            raise Refused(what, refusal.code, _message(refusal.read(LARGEST))) from None
        except (OSError, ValueError) as problem:
            raise Refused(what, 0, str(problem)) from None
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}

    def _opener(self) -> urllib.request.OpenerDirector:
        """Straight to the API server: a proxy of the environment is not for it."""
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
        if self._url.startswith("https:"):
            tls = ssl.create_default_context(cafile=str(self._account / "ca.crt"))
            handlers.append(urllib.request.HTTPSHandler(context=tls))
        return urllib.request.build_opener(*handlers)


def _message(body: bytes) -> str:
    try:
        found = json.loads(body)
        return str(found["message"])[:300]
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")[:300]
