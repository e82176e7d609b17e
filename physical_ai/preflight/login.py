"""The caller's login to Azure: whatever azure-identity finds, the Azure CLI's among them."""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from typing import Any

import httpx

from physical_ai.preflight.answers import Unanswered
from physical_ai.preflight.rest import ARM, Get

SCOPE = f"{ARM}/.default"
SECONDS = httpx.Timeout(60, connect=10)
"""The list of sizes is long, and Azure takes its time over it."""
ATTEMPTS = 3
LONGEST_WAIT = 30
"""Seconds between two attempts, whatever Azure asks for."""
_BUSY = (429, 500, 502, 503, 504)
_DENIED = (401, 403)


class NoLogin(Exception):
    """No Azure login was found; the text says what was tried."""


def logged_in() -> Get:
    """Asks Azure with the login that exists: environment, workload identity, managed identity, Azure CLI and so on.

    Raises:
        NoLogin: there is no login, or azure-identity is not installed.
    """
    try:
        identity: Any = importlib.import_module("azure.identity")
        core: Any = importlib.import_module("azure.core.exceptions")
    except ImportError:
        raise NoLogin("the package azure-identity is not installed") from None
    credential = identity.DefaultAzureCredential(exclude_interactive_browser_credential=True)
    try:
        credential.get_token(SCOPE)
    except core.AzureError as problem:
        raise NoLogin(_first_line(str(problem))) from None
    client = httpx.Client(base_url=ARM, timeout=SECONDS)

    def get(address: str, parameters: Mapping[str, str]) -> Any:
        try:
            token = credential.get_token(SCOPE).token
        except core.AzureError as problem:
            raise Unanswered(f"the login has ended: {_first_line(str(problem))}") from None
        return ask(client, address, parameters, token)

    return get


def ask(client: httpx.Client, address: str, parameters: Mapping[str, str], token: str) -> Any:
    """One GET, repeated while Azure is busy. Raises Unanswered."""
    place = address.removeprefix(ARM).split("?")[0]
    for attempt in range(1, ATTEMPTS + 1):
        try:
            answer = client.get(address, params=dict(parameters) or None, headers={"Authorization": f"Bearer {token}"})
        except httpx.HTTPError as problem:
            raise Unanswered(f"{place}: Azure was not reached ({type(problem).__name__})") from None
        if answer.status_code in _BUSY and attempt < ATTEMPTS:
            time.sleep(_wait(answer, attempt))
            continue
        if answer.status_code in _DENIED:
            raise Unanswered(f"{place}: the login may not read it ({answer.status_code})")
        if answer.status_code != 200:
            raise Unanswered(f"{place}: Azure answered {answer.status_code}")
        try:
            return answer.json()
        except ValueError:
            raise Unanswered(f"{place}: the answer is no JSON") from None
    raise AssertionError("unreachable")


def _wait(answer: httpx.Response, attempt: int) -> float:
    given = answer.headers.get("Retry-After", "")
    return min(float(given) if given.isdigit() else 2.0**attempt, LONGEST_WAIT)


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"
