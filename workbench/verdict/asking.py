"""Requests to ARM about templates: validation, and what-if. ARM creates nothing.

The number of requests and the time are limited. If ARM answers with 202, the result is fetched from the address that
ARM names, after the time that ARM asks for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from workbench.verdict.answers import changes, errors
from workbench.verdict.model import Deployment, Judged, Plan, Said

ARM = "https://management.azure.com"
API_VERSION = "2022-09-01"
MOST_REQUESTS, MOST_SECONDS = 120, 900.0
USUAL_WAIT, LONGEST_WAIT = 5.0, 30.0
MOST_REPEATS = 4
BUSY = frozenset({408, 429, 500, 502, 503, 504})
RIGHTS = ("Microsoft.Resources/deployments/validate/action", "Microsoft.Resources/deployments/whatIf/action")
Exchange = Callable[[str, str, Mapping[str, str], Any], tuple[int, Any, Mapping[str, str]]]
"""Function that sends one request: `exchange(method, path, parameters, body)` returns the status, the document, and the
headers with names in lower case. Raises `NoAnswer`.
"""


class NoAnswer(Exception):
    """Error for a request to which ARM has not given a usable answer. The text has the reason, and ARM's own message if
    there is one.
    """


@dataclass
class Arm:
    """Client of ARM for one caller, within a limit on requests and on time."""

    exchange: Exchange
    subscription: str
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    requests: int = field(default=0, init=False)
    _until: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._until = self.clock() + MOST_SECONDS

    def judge(self, plan: Plan) -> list[Judged]:
        """ARM's answer about each template of a plan. What-if is only requested if validation accepts a template."""
        return [self._judge(each) for each in plan.deployments]

    def _judge(self, deployment: Deployment) -> Judged:
        try:
            status, document = self._asked(deployment, "validate", deployment.body())
            if said := _refusals(status, document):
                return Judged(deployment.name, tuple(said))
        except NoAnswer as problem:
            return Judged(deployment.name, unanswered=str(problem))
        try:
            body = deployment.body()
            body["properties"]["whatIfSettings"] = {"resultFormat": "FullResourcePayloads"}
            status, document = self._asked(deployment, "whatIf", body)
            said = _refusals(status, document)
            return Judged(deployment.name, tuple(said), tuple(changes(document)), what_if=True)
        except NoAnswer as problem:
            return Judged(deployment.name, unanswered=f"it accepts the template, but what-if: {problem}")

    def _asked(self, deployment: Deployment, what: str, body: Any) -> tuple[int, Any]:
        """HTTP status and JSON document of ARM's final answer about the template of `deployment`. `what` is the kind of
        request: `validate` or `whatIf`.
        """
        path = f"/subscriptions/{self.subscription}/providers/Microsoft.Resources/deployments/{deployment.name}/{what}"
        status, document, headers = self._request("POST", path, {"api-version": API_VERSION}, body)
        while status == 202:
            # An answer that comes later has its address in one of two headers (ARM's async-operations contract).
            address = headers.get("location") or headers.get("azure-asyncoperation") or ""
            if not address:
                raise NoAnswer("ARM answered 202 without an address for the result")
            if address.startswith("/"):
                address = f"{ARM}{address}"
            if not address.startswith(f"{ARM}/"):
                raise NoAnswer(f"ARM refers to another host for the result, {address.split('?')[0]}")
            self._wait(headers)
            status, document, headers = self._request("GET", address, {}, None)
        return status, document

    def _request(
        self, method: str, path: str, parameters: Mapping[str, str], body: Any
    ) -> tuple[int, Any, Mapping[str, str]]:
        """ARM's answer to one request, which is repeated while ARM is busy. That is safe: none of these requests
        changes anything.
        """
        repeats = 0
        while True:
            self.requests += 1
            if self.requests > MOST_REQUESTS:
                raise NoAnswer(f"no result after {MOST_REQUESTS} requests")
            status, document, headers = self.exchange(method, path, parameters, body)
            if status not in BUSY:
                return status, document, headers
            repeats += 1
            if repeats > MOST_REPEATS:
                raise NoAnswer(f"ARM answered {status} {repeats} times{_words(document)}")
            self._wait(headers)

    def _wait(self, headers: Mapping[str, str]) -> None:
        named = headers.get("retry-after", "")
        seconds = min(float(named), LONGEST_WAIT) if named.isascii() and named.isdecimal() else USUAL_WAIT
        if self.clock() + seconds > self._until:
            raise NoAnswer(f"no result within {MOST_SECONDS:g} s")
        self.sleep(seconds)


def _refusals(status: int, document: Any) -> list[Said]:
    """ARM's errors about a template; empty if ARM accepts the template.

    Raises NoAnswer if ARM's answer does not show whether it accepts the template.
    """
    said = errors(document)
    if status in {401, 403, 404}:
        raise NoAnswer(f"ARM answered {status}{_words(document)}")
    if status == 200 and isinstance(document, dict):
        answer = cast("dict[str, Any]", document)
        failed = str(answer.get("status", "Succeeded")).lower() in {"failed", "canceled"}
        has_error = isinstance(answer.get("error"), dict)
        if (failed or has_error) and not said:
            return [Said("Failed", "ARM could not judge the template, and says no more")]
        if failed or has_error:
            return said
        if isinstance(answer.get("properties"), dict):
            return []
    if status >= 400 and said:
        return said
    raise NoAnswer(f"ARM answered {status} without a document that says what it found")


def _words(document: Any) -> str:
    said = errors(document)
    return f": {said[0].code}: {said[0].message}" if said else ""
