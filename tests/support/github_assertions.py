"""Stand-in, on loopback, of the service that gives GitHub's jobs their OpenID Connect tokens, here called assertions.

The form of an assertion is from GitHub's OpenID Connect reference: a JWT with `iss`, `aud`, `sub`, `exp`. A repository
made, renamed or transferred since 2026-07-15 has the ids of owner and name in `sub` (GitHub changelog, 2026-04-23).
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SUBJECT = "repo:acme@1/platform@2:environment:dev"
BEARER = "job"


def assertion(**changed: Any) -> str:
    """Assertion for a job. Its signature is not valid, since the tests verify none."""
    given = {
        "iss": "https://token.actions.githubusercontent.com",
        "aud": "api://AzureADTokenExchange",
        "sub": SUBJECT,
        "exp": time.time() + 300,
        **changed,
    }
    return ".".join(_part(each) for each in ({"typ": "JWT", "alg": "RS256"}, given, "signature"))


def _part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@dataclass(frozen=True)
class Answer:
    """Answer of the service instead of an assertion. `promised` is a Content-Length that does not match the body."""

    body: bytes = b""
    status: int = 200
    promised: int | None = None


@dataclass
class Service:
    """Service that sends each answer in `answers` once, in their order, and after them assertions with `claims`."""

    answers: list[Answer] = field(default_factory=list[Answer])
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    given: list[str] = field(default_factory=list[str])
    requests: int = 0
    address: str = ""

    def answer(self, *, is_fine: bool) -> Answer:
        self.requests += 1
        if not is_fine:
            return Answer(status=403)
        if self.answers:
            return self.answers.pop(0)
        self.given.append(assertion(**self.claims, jti=str(self.requests)))
        return Answer(json.dumps({"count": 1, "value": self.given[-1]}).encode())


@contextmanager
def serving(service: Service) -> Generator[Service]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.path.endswith("&audience=api://AzureADTokenExchange")
            found = service.answer(is_fine=wanted and self.headers["Authorization"] == f"Bearer {BEARER}")
            self.send_response(found.status)
            self.send_header("Content-Length", str(len(found.body) if found.promised is None else found.promised))
            self.end_headers()
            self.wfile.write(found.body)

        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True).start()
        service.address = f"http://127.0.0.1:{server.server_port}/token?api-version=2"
        yield service
        server.shutdown()
