"""One request and its answer, within limits."""

from __future__ import annotations

import http.client
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError, IncompleteRead, NewConnectionError, ProtocolError
from urllib3.exceptions import TimeoutError as Urllib3Timeout

from physical_ai.servers.bounds import USUAL, Bounds
from physical_ai.servers.deadline import Deadline
from physical_ai.servers.retrying import pause

CHUNK = 1 << 16
sleep = time.sleep
PLAIN = ("", "identity")
_OTHER = "what answers there is not the server itself: a proxy, a login page, or another program"


class NoAnswer(Exception):
    """Raised where a server gives no usable answer; the text says which server, what it sent, and what to do."""


class _Dropped(NoAnswer):
    """Raised where the connection ended before the first byte of an answer; for example, the server had closed a
    connection that was kept open for reuse.
    """


class TooLarge(NoAnswer):
    """Raised where the answer has more bytes than the limits allow."""


@dataclass(frozen=True)
class Request:
    """A request to one server. `url` is complete; messages show it without its secret parts."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    waits: bool = True
    """True for a request that may be repeated after the time that a busy server asks for."""

    @property
    def server(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    @property
    def text(self) -> str:
        return f"{self.method} {urlsplit(self.url).path}"


@dataclass(frozen=True)
class Answer:
    """Complete answer of a server. Names of headers are in lower case."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


def exchange(
    pools: urllib3.PoolManager,
    request: Request,
    bounds: Bounds = USUAL,
) -> Answer:
    """Sends a request, and returns the answer, whatever its status, except for redirects, which are not followed.

    Args:
        pools: PoolManager that `deadline.bounded` has changed.

    Raises:
        NoAnswer
    """
    waited, tried = 0.0, 0
    while True:
        tried += 1
        answer = _answer(pools, request, bounds)
        seconds = pause(answer.status, answer.headers, tried) if request.waits else None
        if seconds is None:
            break
        if waited + seconds > bounds.patience or tried == bounds.tries:
            raise NoAnswer(_busy(request, answer, seconds, bounds))
        waited += seconds
        sleep(seconds)
    if 300 <= answer.status < 400:
        raise NoAnswer(_redirected(request, answer))
    return answer


def _answer(pools: urllib3.PoolManager, request: Request, bounds: Bounds) -> Answer:
    """Answer to one request.

    Servers close idle connections at any time. If a reused connection turns out to be closed, a GET request is repeated
    within the same time limit; other requests are not repeated, because they may change something.
    """
    began = time.monotonic()
    try:
        return _once(pools, request, bounds)
    except _Dropped:
        left = bounds.seconds - (time.monotonic() - began)
        if request.method != "GET" or left <= 0:
            raise
        return _once(pools, request, replace(bounds, seconds=left))


def _once(pools: urllib3.PoolManager, request: Request, bounds: Bounds) -> Answer:
    headers = {"Accept-Encoding": "identity", **request.headers}
    timeout = urllib3.Timeout(connect=min(bounds.connect, bounds.seconds), read=min(bounds.idle, bounds.seconds))
    with Deadline(bounds.seconds) as deadline:
        response: Any = None
        try:
            response = pools.urlopen(
                request.method,
                request.url,
                body=request.body,
                headers=headers,
                timeout=timeout,
                retries=False,
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
            body = _body(response, request, bounds)
        except NoAnswer:
            _discard(response)
            raise
        except (HTTPError, OSError, ValueError, AttributeError, http.client.HTTPException) as problem:
            _discard(response)
            late = deadline.is_over or isinstance(problem, TimeoutError)
            if not late and isinstance(problem, AttributeError):
                raise
            if late:
                raise NoAnswer(_late(request, bounds)) from problem
            kind = _Dropped if response is None and isinstance(problem, ProtocolError) else NoAnswer
            raise kind(_broken(request, problem, response)) from problem
        if deadline.is_over:
            _discard(response)
            raise NoAnswer(_late(request, bounds))
    response.release_conn()
    return Answer(response.status, str(response.reason or ""), _lower(response.headers), body)


def _body(response: Any, request: Request, bounds: Bounds) -> bytes:
    encoding = str(response.headers.get("Content-Encoding", "")).strip().lower()
    if encoding not in PLAIN:
        raise NoAnswer(
            f"{request.server} sent {request.text} an answer in the encoding {encoding[:40]!r}, which was not asked "
            f"for: {_OTHER}. Compare the address in the kubeconfig or option, and the proxy variables."
        )
    parts: list[bytes] = []
    size = 0
    while part := response.read(CHUNK, decode_content=False):
        size += len(part)
        if size > bounds.size:
            raise TooLarge(
                f"{request.server} answers {request.text} with more than {_bytes(bounds.size)}, and was cut off: "
                f"more than any real answer, so {_OTHER}."
            )
        parts.append(part)
    return b"".join(parts)


def _discard(response: Any) -> None:
    """Closes the connection of an answer that was not read to its end. If the connection were used again, the rest of
    this answer would be read as the next answer.
    """
    if response is not None:
        response.close()


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _late(request: Request, bounds: Bounds) -> str:
    return (
        f"{request.server} sent no complete answer to {request.text} within {bounds.seconds:g} s. "
        "It is overloaded, or the network loses what it sends: try again, and see the server's own metrics."
    )


def _broken(request: Request, problem: Exception, response: Any) -> str:
    reason = short(problem)
    if response is not None or isinstance(problem, (IncompleteRead, ProtocolError)):
        cut = "closed the connection before the end of its answer"
        said = cut if isinstance(problem, (IncompleteRead, ProtocolError)) else "sent an answer that is not HTTP"
        return f"{request.server} {said} to {request.text} ({reason}). Try again; if it stays so, {_OTHER}."
    if isinstance(problem, Urllib3Timeout) and not isinstance(problem, NewConnectionError):
        return f"{request.server} does not answer {request.text} ({reason}). Does this machine reach it?"
    return f"{request.server} is not reached ({reason})"


def _busy(request: Request, answer: Answer, seconds: float, bounds: Bounds) -> str:
    asked = f" and asks to wait {seconds:,.0f} s" if "retry-after" in answer.headers else ""
    return (
        f"{answer.status} {request.server} is too busy for {request.text}{asked}; it was asked for "
        f"{bounds.patience:g} s at the most. Run the command again later, or find what floods the server."
    )


def _redirected(request: Request, answer: Answer) -> str:
    parts = urlsplit(answer.headers.get("location", "")[:500])
    where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.netloc else "another address"
    where = "".join(each for each in where if each.isprintable())[:120]
    return (
        f"{answer.status} {request.server} sends {request.text} on to {where}, which is not followed, since the login "
        f"is not for it: {_OTHER}. Compare the address, and the proxy variables."
    )


def _bytes(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size} bytes"


def short(problem: Exception) -> str:
    """First line of an error's text, with printable characters only."""
    reason = str(getattr(problem, "reason", None) or problem) or type(problem).__name__
    line = reason.partition("\n")[0].rpartition("a new connection: ")[2][:300]
    return "".join(each if each.isprintable() else " " for each in line)
