"""Requests to Azure Resource Manager that change something: what is sent, what comes back, and how a refusal reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from physical_ai.nested import at


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. `body` is decoded JSON, None without one; `headers` have lower-case names."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Arm = Callable[[str, str, Mapping[str, str], Any], Answer]
"""`arm(method, path or full address, parameters, body)`; any status is an answer.

Raises:
    NoAnswer
"""


class NoAnswer(Exception):
    """Raised where Azure gave no answer this time; the next request may have one."""


class Refused(Exception):
    """Raised where Azure refuses a request; `code` is its error code, such as AuthorizationFailed."""

    def __init__(self, what: str, answer: Answer) -> None:
        # AKS sends its errors without the envelope `error` of other services.
        error: Mapping[str, Any] = at(answer.body, "error", cast("Mapping[str, Any]", answer.body or {}))
        self.status = answer.status
        self.code = str(at(error, "code", ""))
        message = str(at(error, "message", "")) or "no message"
        super().__init__(f"Azure refuses to {what} ({answer.status} {self.code}): {message}")


@dataclass(frozen=True)
class Request:
    """Request to Azure."""

    what: str
    """Description in words, as `delete machine X`, for the message of a refusal."""
    method: str
    path: str
    version: str
    """API version."""
    body: Any = None


def sent(arm: Arm, request: Request) -> Answer:
    """The answer to a request that Azure accepts.

    Raises:
        Refused, NoAnswer
    """
    answer = arm(request.method, request.path, {"api-version": request.version}, request.body)
    if answer.status >= 300:
        raise Refused(request.what, answer)
    return answer
