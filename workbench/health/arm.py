"""Requests to Azure Resource Manager that change something: the request, the answer, and the message of a refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from physical_ai.nested import at


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. `body`: decoded JSON, None if there is none; `headers`: with lower-case names."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Arm = Callable[[str, str, Mapping[str, str], Any], Answer]
"""`arm(method, path or full address, parameters, body)`; any status is an answer.

Raises:
    NoAnswer
"""


class NoAnswer(Exception):
    """Error if Azure gave no answer this time; a later request may get one."""


class Refused(Exception):
    """Error if Azure refuses a request. `code`: Azure's error code, such as AuthorizationFailed."""

    def __init__(self, what: str, answer: Answer) -> None:
        # AKS sends its errors without the envelope `error` of other services.
        error: Mapping[str, Any] = at(answer.body, "error", cast("Mapping[str, Any]", answer.body or {}))
        self.status = answer.status
        self.code = str(at(error, "code", ""))
        message = str(at(error, "message", "")) or "no message"
        super().__init__(f"Azure refuses to {what} ({answer.status} {self.code}): {message}")


@dataclass(frozen=True)
class Request:
    """One request to Azure, with a description for messages."""

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
