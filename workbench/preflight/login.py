"""Clients for Azure Resource Manager with the caller's login: the first login that azure-identity finds, for example
the login of the Azure CLI.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from azure.core.credentials import TokenCredential
from azure.core.exceptions import AzureError, ClientAuthenticationError
from azure.core.pipeline import Pipeline, PipelineResponse
from azure.core.pipeline.policies import BearerTokenCredentialPolicy, RetryPolicy
from azure.core.pipeline.transport import HttpTransport, RequestsTransport
from azure.core.rest import HttpRequest, HttpResponse

from physical_ai.servers.adapter import bounded_session
from physical_ai.servers.bounds import Bounds
from physical_ai.servers.deadline import within
from physical_ai.servers.documents import NotADocument, decoded
from physical_ai.subscription.answers import Unanswered
from physical_ai.subscription.rest import ARM, Exchange, Get

SCOPE = f"{ARM}/.default"
BOUNDS = Bounds(seconds=90, idle=60, size=64 << 20)
"""Limits on one answer of Azure. The limits are wide, because Azure's list of VM sizes is long and slow to arrive."""
JSON = {"Content-Type": "application/json"}
LOGIN_SECONDS = 90.0
ATTEMPTS = 3
LONGEST_WAIT = 30
"""Maximum seconds between two attempts, even if Azure requests more."""


class NoLogin(Exception):
    """Error if no Azure login was found; the text lists what was tried."""


class BoundedRetryPolicy(RetryPolicy[HttpRequest, HttpResponse]):
    """Retry policy with a limit on Retry-After. azure-core's own policy has no limit, raises an error for an invalid
    value, and does not wait before the first repetition.
    """

    def get_retry_after(self, response: PipelineResponse[Any, Any]) -> float:
        try:
            return min(super().get_retry_after(response) or 0, LONGEST_WAIT)
        except ValueError:
            return 0

    def get_backoff_time(self, settings: dict[str, Any]) -> float:
        return 2.0 ** len(settings["history"])


def transport() -> HttpTransport[HttpRequest, HttpResponse]:
    """HTTP transport that limits the size and duration of answers."""
    found: Any = RequestsTransport(
        session=bounded_session(BOUNDS), session_owner=False, connection_timeout=10, read_timeout=BOUNDS.idle
    )
    return found


def _log_in(credential: TokenCredential) -> None:
    """Raises NoLogin if the credential gives no token for ARM.

    A time limit is set here, because some sources of a login have none.
    """
    try:
        within(LOGIN_SECONDS, lambda: credential.get_token(SCOPE))
    except AzureError as problem:
        raise NoLogin(_first_line(str(problem))) from None
    except TimeoutError:
        raise NoLogin(f"no login within {LOGIN_SECONDS:g} s; run az login, and try again") from None


def logged_in() -> Get:
    """Function that sends a GET to ARM with the existing login: from the environment, a managed identity, the Azure CLI
    or another source of azure-identity.

    Raises NoLogin.
    """
    from azure.identity import DefaultAzureCredential

    credential = DefaultAzureCredential(exclude_interactive_browser_credential=True)
    _log_in(credential)
    return connect(credential, transport())


def connect(credential: TokenCredential, transport: HttpTransport[HttpRequest, HttpResponse]) -> Get:
    """Function that sends one GET for each call, and repeats it while Azure is busy.

    It follows no redirect, and sends the token only to `ARM`.
    """
    retry = BoundedRetryPolicy(retry_total=ATTEMPTS - 1, retry_connect=0, retry_read=0)
    pipeline = Pipeline(transport, [retry, BearerTokenCredentialPolicy(credential, SCOPE)])

    def get(address: str, parameters: Mapping[str, str]) -> Any:
        path = address.removeprefix(ARM).lstrip("/")
        place = f"/{path.split('?')[0]}"
        quoted = {name: quote(value) for name, value in parameters.items()}
        try:
            answer = pipeline.run(HttpRequest("GET", f"{ARM}/{path}", params=quoted)).http_response
            if answer.status_code in {401, 403}:
                raise Unanswered(f"{place}: the login may not read it ({answer.status_code})")
            if answer.status_code != 200:
                raise Unanswered(f"{place}: Azure answered {answer.status_code}")
            return decoded(_content(answer))
        except ClientAuthenticationError as problem:
            raise Unanswered(f"the login has ended: {_first_line(str(problem))}") from None
        except AzureError as problem:
            raise Unanswered(f"{place}: Azure was not reached ({_why(problem)})") from None
        except NotADocument as problem:
            raise Unanswered(f"{place}: the answer is not JSON: {problem}") from None

    return get


def logged_in_to_change() -> Exchange:
    """Function that sends requests of any method to ARM with the existing login, and returns answers of every HTTP
    status.

    Raises NoLogin.
    """
    from azure.identity import DefaultAzureCredential

    credential = DefaultAzureCredential(exclude_interactive_browser_credential=True)
    _log_in(credential)
    return connect_to_change(credential, transport())


def connect_to_change(credential: TokenCredential, transport: HttpTransport[HttpRequest, HttpResponse]) -> Exchange:
    """Function that sends one request of any method for each call. While Azure is busy, it repeats only requests that
    are safe to repeat.

    It follows no redirect, and sends the token only to `ARM`.
    """
    retry = BoundedRetryPolicy(retry_total=ATTEMPTS - 1, retry_connect=0, retry_read=0)
    pipeline = Pipeline(transport, [retry, BearerTokenCredentialPolicy(credential, SCOPE)])

    def exchange(
        method: str, address: str, parameters: Mapping[str, str], body: Any = None
    ) -> tuple[int, Any, Mapping[str, str]]:
        path = address.removeprefix(ARM).lstrip("/")
        quoted = {name: quote(value) for name, value in parameters.items()}
        # ARM limits the size of a request, of which spaces between values are a tenth.
        content = None if body is None else json.dumps(body, separators=(",", ":"))
        request = HttpRequest(method, f"{ARM}/{path}", params=quoted, headers=JSON if content else {}, content=content)
        try:
            answer = pipeline.run(request).http_response
            content = _content(answer)
            found: Any = decoded(content) if content.strip() else None
        except ClientAuthenticationError as problem:
            raise Unanswered(f"the login has ended: {_first_line(str(problem))}") from None
        except AzureError as problem:
            raise Unanswered(f"{method} /{path}: Azure was not reached ({_why(problem)})") from None
        except NotADocument as problem:
            raise Unanswered(f"{method} /{path}: the answer is not JSON: {problem}") from None
        return answer.status_code, found, {name.lower(): value for name, value in answer.headers.items()}

    return exchange


def _why(problem: AzureError) -> str:
    """Type and first line of an error, for a message. The libraries put no token into their errors."""
    return f"{type(problem).__name__}: {_first_line(str(problem))[:200]}"


def _content(answer: Any) -> bytes:
    return answer.content or b""


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"
