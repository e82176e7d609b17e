"""One token for one name: created once, replaced where the service refuses it, kept with the one before it.

The service stores only a digest of a token. One that was created and not stored, because the program was killed in
between, is never used: the next run deletes it and creates it again.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from json_http import Refused
from osmo_token.secret import VALID, Held
from osmo_token.service import Service

CONFLICTS = 5
"""How often the Secret may change between reading and writing it."""
Report = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """`name` changes with every rotation; `days` is for how long the service accepts a token."""

    user: str
    name: str
    days: int
    warn_days: int


class Store(Protocol):
    """Where a token is kept: a Secret of the cluster, or one of a vault."""

    def read(self) -> Held: ...
    def write(self, held: Held, expires: str) -> None: ...
    def write_state(self, held: Held, state: str) -> None: ...


def ensure(service: Service, secret: Store, wanted: Wanted, today: datetime.date, report: Report) -> None:
    """The Secret has a token of the wanted name that the service accepts. Raises Refused."""
    held = secret.read()
    if held.name == wanted.name and held.token:
        refusal = service.refusal(held.token)
        if not refusal:
            secret.write_state(held, VALID)
            report(f"The token {wanted.name} of {wanted.user} is valid.")
            _tidy(service, wanted.user, held, report)
            return
        report(f"The service refuses the token {wanted.name} of {wanted.user}: {refusal} It is replaced.")
    service.ensure_user(wanted.user)
    if wanted.name in service.tokens(wanted.user):
        report(f"No valid value of the token {wanted.name} is stored. It is created again.")
        service.delete(wanted.user, wanted.name)
    expires = today + datetime.timedelta(days=wanted.days)
    value = service.create(wanted.user, wanted.name, expires)
    kept = _store(secret, wanted.name, value, expires)
    report(f"Created the token {wanted.name} of {wanted.user}. The service accepts it until {expires.isoformat()}.")
    _tidy(service, wanted.user, kept, report)


def _tidy(service: Service, user: str, kept: Held, report: Report) -> None:
    """Deletes older tokens. Agents that still use the one before the present one must not lose their connection."""
    for each in service.tokens(user).values():
        if each.is_ours and each.name not in (kept.name, kept.previous_name):
            service.delete(user, each.name)
            report(f"Deleted the token {each.name}, which nothing uses.")


def _store(secret: Store, name: str, value: str, expires: datetime.date) -> Held:
    """What the Secret then has: the new token, and the one that it replaces."""
    for tries_left in reversed(range(CONFLICTS)):
        held = secret.read()
        if held.name == name:  # a refused one of the same name is of no use to anybody
            previous, previous_name = held.previous, held.previous_name
        else:
            previous, previous_name = held.token, held.name
        kept = replace(held, token=value, name=name, previous=previous, previous_name=previous_name, state=VALID)
        try:
            secret.write(kept, expires.isoformat())
        except Refused as refusal:
            if refusal.code != 409 or not tries_left:
                raise
        else:
            return kept
    raise AssertionError("the last try returns or raises")


def check(service: Service, secret: Store, wanted: Wanted, today: datetime.date) -> str:
    """What is wrong with the stored token; empty where nothing is. Changes no token. Raises Refused."""
    held = secret.read()
    if not held.token:
        return f"The Secret has no token. Expected {wanted.name} of {wanted.user}."
    problem = service.refusal(held.token)
    if problem:
        problem = f"The service refuses the token {held.name or 'of an unknown name'}: {problem}"
    else:
        known = service.tokens(wanted.user).get(held.name) if held.name else None
        problem = _expiry(known.expires, held.name, wanted.warn_days, today) if known else ""
    secret.write_state(held, problem or VALID)
    return problem


def _expiry(expires: str, name: str, warn_days: int, today: datetime.date) -> str:
    try:
        left = (datetime.date.fromisoformat(expires) - today).days
    except ValueError:
        return ""
    if left > warn_days:
        return ""
    return f"The token {name} expires on {expires}, in {left} days. Change osmo.tokenRotation and deploy."


def fetch(
    service: Service, offered: Store, secret: Store, wanted: Wanted, *, today: datetime.date, report: Report
) -> str:
    """The Secret has what the control plane's deployment has put into the vault.

    Returns:
        What is wrong with the token; empty where nothing is.

    Raises:
        Refused: The vault does not have the wanted token, which its deployment may be about to create.
    """
    found, held = offered.read(), secret.read()
    if found.name != wanted.name or not found.token:
        has = f"the token {found.name}" if found.name else "no token"
        raise Refused(f"the vault has {has}, and not {wanted.name}", 0, "Deploy the control plane's stack first.")
    if (held.token, held.name) != (found.token, found.name):
        rotated = held.token and held.name != found.name
        previous = (held.token, held.name) if rotated else (held.previous, held.previous_name)
        held = replace(held, token=found.token, name=found.name, previous=previous[0], previous_name=previous[1])
        secret.write(replace(held, state=VALID), found.expires)
        report(f"Stored the token {found.name}, which the service accepts until {found.expires}.")
        held = secret.read()
    refusal = service.refusal(found.token)
    if refusal:
        problem = f"The service refuses the token {found.name}: {refusal} Deploy the control plane's stack again."
    else:
        problem = _expiry(found.expires, found.name, wanted.warn_days, today)
    secret.write_state(held, problem or VALID)
    return problem
