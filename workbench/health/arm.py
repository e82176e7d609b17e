"""Requests to Azure Resource Manager that may change resources, Azure's answers, and errors with Azure's message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from physical_ai.nested import at


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. `body` is decoded JSON, or None without a body; the names in `headers` are in lower case."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Arm = Callable[[str, str, Mapping[str, str], Any], Answer]
"""Function that sends a request to Azure Resource Manager and returns the answer, whatever its status. Arguments:
method, path or full address, parameters, body.

Raises:
    NoAnswer: Azure does not answer.
"""


class NoAnswer(Exception):
    """Error if Azure did not answer a request. A later request may be answered."""


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
    """One request to Azure, with a description that error messages show."""

    what: str
    """Description for the message of a refusal, such as `delete machine X`."""
    method: str
    path: str
    version: str
    """API version of the request."""
    body: Any = None


def sent(arm: Arm, request: Request) -> Answer:
    """Sends a request to Azure, and returns the answer if Azure accepts it.

    Raises:
        Refused: Azure's answer has a status of 300 or more.
        NoAnswer: Azure does not answer.
    """
    answer = arm(request.method, request.path, {"api-version": request.version}, request.body)
    if answer.status >= 300:
        raise Refused(request.what, answer)
    return answer
