"""Creates, checks or fetches the token of a backend, once."""

from __future__ import annotations

import argparse
import datetime
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from json_http import ACCOUNT, Refused, of_pod
from osmo_token.minting import Wanted, check, ensure, fetch
from osmo_token.secret import TokenSecret
from osmo_token.service import Service
from osmo_token.vault import Identity, VaultSecret

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
"""Seconds between two tries."""


def persist(act: Callable[[], None], end: float, pause: Callable[[float], object]) -> None:
    """Repeats what is safe to repeat until it works, or `end` (of the monotonic clock) has passed.

    Raises:
        Refused: It was refused for a reason that waiting does not change, or too long.
    """
    seconds, last = FIRST_PAUSE, ""
    while True:
        try:
            act()
            return
        except Refused as refusal:
            if not refusal.is_transient or time.monotonic() + seconds > end:
                raise
            if str(refusal) != last:
                say(f"{refusal}. Trying again.")
            last = str(refusal)
        pause(seconds)
        seconds = min(seconds * 2, LONGEST_PAUSE)


def say(line: str) -> None:
    print(line, flush=True)


def today() -> datetime.date:
    """In UTC, which the service counts in."""
    return datetime.datetime.now(datetime.timezone.utc).date()


def main(arguments: list[str], pause: Callable[[float], object] | None = None) -> int:
    given = _parser().parse_args(arguments)
    wanted = Wanted(given.user, given.name, given.days, given.warn_days)
    service = Service(given.service, lambda: given.password_file.read_text().strip())
    secret = TokenSecret(of_pod(given.account), *given.secret.split("/", 1))
    identity = Identity(given.authority.rstrip("/"), given.tenant, given.client, given.identity_file)
    problem = ""

    def act() -> None:
        nonlocal problem
        service.version()
        if given.mode == "fetch":
            offered = _vault(given, identity, given.vault_secret)
            problem = fetch(service, offered, secret, wanted, today=today(), report=say)
            return
        service.log_in()
        others = [each.split("=", 2) for each in given.served]
        stores = [(_vault(given, identity, kept), replace(wanted, user=user, name=name)) for user, name, kept in others]
        found: list[str] = []
        for store, own in [(secret, wanted), *stores]:
            if given.mode == "ensure":
                ensure(service, store, own, today(), say)
            else:
                found.append(check(service, store, own, today()))
        problem = "\n".join(filter(None, found))

    try:
        persist(act, time.monotonic() + given.seconds, pause or threading.Event().wait)
    except (Refused, OSError) as fault:
        problem = f"{fault}"
    if problem:
        print(problem, file=sys.stderr, flush=True)
    return 1 if problem else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="osmo-token", description=__doc__)
    parser.add_argument("mode", choices=("ensure", "check", "fetch"))
    parser.add_argument("--service", required=True, help="address of OSMO's gateway")
    parser.add_argument("--password-file", type=Path, default=Path("none"), help="of OSMO's default administrator")
    parser.add_argument("--user", required=True, help="of OSMO, whose token it is")
    parser.add_argument("--name", required=True, help="of the token; another name is another token")
    parser.add_argument("--days", type=int, default=180, help="for how long a new token is valid")
    parser.add_argument("--warn-days", type=int, default=30, help="how long before its end it is reported")
    parser.add_argument("--secret", required=True, help="NAMESPACE/NAME of the Secret for it")
    parser.add_argument("--account", type=Path, default=ACCOUNT, help="folder of the Pod's service account")
    parser.add_argument("--seconds", type=float, default=600, help="how long to wait for the service")
    vault = parser.add_argument_group("tokens for the clusters of other stacks, in a key vault")
    vault.add_argument("--served", action="append", default=[], metavar="USER=NAME=SECRET", help="another backend")
    vault.add_argument("--vault-secret", default="", help="fetch: the secret to read")
    vault.add_argument("--vault", default="", help="address of the vault")
    vault.add_argument("--authority", default="https://login.microsoftonline.com", help="where the identity logs in")
    vault.add_argument("--tenant", default="", help="of the identity")
    vault.add_argument("--client", default="", help="client id of the identity")
    vault.add_argument("--identity-file", type=Path, default=Path("none"), help="token that is exchanged for it")
    return parser


def _vault(given: argparse.Namespace, identity: Identity, name: str) -> VaultSecret:
    return VaultSecret(given.vault, name, identity.token)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
