"""Lets a job's runner reach a stack's API server: `runner_address.py add STACK`, and at the end `remove STACK`.

A runner that GitHub hosts has another public address each time. `add` puts it into the cluster's authorized ranges and
notes it in $RUNNER_TEMP, `remove` takes exactly this one away. The stack's settings and its state never contain it, so
no preview shows it. An update of the cluster writes the declared ranges only: deploy what is in Azure first, and run
`add` again before what is in the cluster.

It needs the Azure CLI and the deploying identity, which may write the cluster anyway. It never writes an empty list,
which would open the API server to everyone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, TypeVar

from physical_ai.servers.deadline import within
from physical_ai.settings.facts.naming import Names

SOURCES = ("https://checkip.amazonaws.com", "https://api.ipify.org")
"""Services that answer with the caller's address. Both have to agree: neither alone decides who is let in."""
BUSY = ("OperationNotAllowed", "AnotherOperationInProgress", "Conflict")
FINAL = ("AuthorizationFailed", "Forbidden", "BadRequest", "InvalidParameter", "NotFound", "AADSTS")
"""Errors that another try gets again. Every other one may pass, also one that nobody has seen yet."""
ATTEMPTS, TRIES, SECONDS = 20, 4, 30
"""Tries while another operation changes the cluster, those after any other error, and the pause between two."""
WHOLE, LONGEST = 60.0, 1200
"""Seconds for a service's whole answer, and for a command of the Azure CLI: an update of a cluster takes minutes."""

Answer = TypeVar("Answer")


class Failed(Exception):
    """The text describes what to do."""


def own_address() -> IPv4Address:
    """The public address from which this runner's requests come."""
    answers = [patiently(lambda source=source: asked(source)) for source in SOURCES]
    if len(set(answers)) != 1:
        named = ", ".join(map(str, answers))
        raise Failed(f"{' and '.join(SOURCES)} name different addresses: {named}. Nothing was changed.")
    return answers[0]


def asked(source: str) -> IPv4Address:
    """The caller's address as a service names it. Raises Failed for any other answer."""
    try:
        return IPv4Address(within(WHOLE, lambda: _body(source)).decode().strip())
    except Exception as problem:
        raise Failed(f"{source} named no address: {type(problem).__name__}: {problem}") from None


def _body(source: str) -> bytes:
    with urllib.request.urlopen(source, timeout=30) as answer:  # noqa: S310 - one of the two above
        return answer.read(64)


def az(*arguments: str) -> Any:
    """The answer of a command of the Azure CLI. Raises Failed with its error."""
    command = ["az", *arguments, "--only-show-errors", "--output", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        raise Failed(f"az {' '.join(arguments[:2])} has not ended within {LONGEST} s") from None
    if done.returncode:
        raise Failed(done.stderr.strip() or f"az {arguments[0]} ended with {done.returncode}")
    try:
        return json.loads(done.stdout or "null")
    except (ValueError, RecursionError):
        raise Failed(f"az {arguments[0]} printed no JSON: {done.stdout[:200]!r}") from None


def patiently(act: Callable[[], Answer]) -> Answer:
    """Returns what `act` returns, and calls it again after errors that may pass."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return act()
        except Failed as problem:
            text = str(problem)
            busy = any(code in text for code in BUSY)
            if attempt == (ATTEMPTS if busy else TRIES) or (not busy and any(code in text for code in FINAL)):
                raise
            print("another operation changes the cluster" if busy else text, "- trying again", flush=True)
        time.sleep(SECONDS)
    raise AssertionError("the last attempt returns or raises")


def log_in() -> None:
    """Logs in as the environment's identity, with the assertion that is stored for it."""
    assertion = Path(os.environ["AZURE_FEDERATED_TOKEN_FILE"]).read_text(encoding="utf-8")
    who = ("--username", os.environ["AZURE_CLIENT_ID"], "--tenant", os.environ["AZURE_TENANT_ID"])
    patiently(lambda: az("login", "--service-principal", *who, "--federated-token", assertion))
    az("account", "set", "--subscription", os.environ["ARM_SUBSCRIPTION_ID"])


def authorized(names: Names) -> list[str] | None:
    """Ranges that the API server accepts, empty if it accepts all; None if there is no cluster."""
    query = ("--query", "apiServerAccessProfile.authorizedIpRanges")
    show = ("aks", "show", "--resource-group", names.resource_group, "--name", names.cluster)
    try:
        found = patiently(lambda: az(*show, *query)) or []
    except Failed as problem:
        if "NotFound" in str(problem):
            return None
        raise
    for each in found if isinstance(found, list) else [found]:
        networks(each)
    return found


def networks(text: Any) -> IPv4Network | IPv6Network:
    """A range of the cluster. Raises Failed for what is none."""
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise Failed(f"the cluster's ranges have {text!r}, which is none. Nothing was changed.") from None


def authorize(names: Names, ranges: list[str]) -> None:
    """Replaces the ranges, after the operation that may be in progress."""
    if not ranges:
        raise Failed("An empty list would open the API server to everyone. Nothing was changed.")
    wanted = ("--api-server-authorized-ip-ranges", ",".join(ranges))
    update = ("aks", "update", "--resource-group", names.resource_group, "--name", names.cluster)
    patiently(lambda: az(*update, *wanted))


def add(names: Names, note: Path) -> str:
    ranges = authorized(names)
    if ranges is None:
        return "There is no cluster yet."
    if not ranges:
        return "The API server accepts all addresses."
    own = own_address()
    if any(own in networks(each) for each in ranges):
        return f"The API server accepts {own} already."
    # Written before the change, so that `remove` knows the address even if the change is interrupted.
    note.write_text(str(own), encoding="utf-8")
    authorize(names, [*ranges, f"{own}/32"])
    return f"The API server accepts {own} until the end of this job."


def remove(names: Names, note: Path) -> str:
    if not note.exists():
        return "No address was added."
    own = note.read_text(encoding="utf-8")
    ranges = authorized(names) or []
    left = [each for each in ranges if each not in (own, f"{own}/32")]
    if left != ranges:
        authorize(names, left)
    note.unlink()
    return f"The API server does not accept {own} any more."


def main() -> int:
    verb, stack = sys.argv[1:]
    names, note = Names(stack), Path(os.environ["RUNNER_TEMP"]) / f"address-{stack}"
    try:
        log_in()
        print({"add": add, "remove": remove}[verb](names, note))
    except Exception as problem:
        text = str(problem) if isinstance(problem, Failed | OSError) else f"{type(problem).__name__}: {problem}"
        print(f"::error::{verb} the runner's address: {' '.join(text.split())}")
        if verb == "remove" and note.exists():
            print(f"::error::Remove {note.read_text()}/32 from the authorized ranges of {names.cluster} by hand.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
