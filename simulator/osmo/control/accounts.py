"""Users of OSMO, with their roles and access tokens. The real service keeps them in its database."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILE = "osmo-accounts.json"
LONGEST_DAYS = 365
"""Maximum validity of an access token in days: the default of the service's `max_token_duration`, which no stack
changes.
"""
ROLES = ("osmo-admin", "osmo-user", "osmo-backend", "osmo-ctrl", "osmo-default")
"""Roles that every installation has (docs/deployment_guide/appendix/authentication/roles_policies.rst)."""
TOKEN_NAME = re.compile(r"[a-zA-Z]([a-zA-Z0-9_-]*[a-zA-Z0-9])?")
USER_NAME = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9_.@-]*[a-zA-Z0-9])?")
TOKEN_LENGTH = 43
"""Number of characters of an access token. The default administrator's password has the same number, because it is used
as an access token.
"""
Json = dict[str, Any]


class UserError(Exception):
    """Error if OSMO's service refuses a request. The service answers with status 400 and the text of this error."""


class Accounts:
    """Users and access tokens in a file of the simulation's folder. For each token, the file has only a digest.

    Args:
        known_roles: Names of the roles of the configuration.
        today: Function that returns the present date in UTC.
    """

    def __init__(
        self,
        folder: Path,
        known_roles: Callable[[], frozenset[str]],
        today: Callable[[], datetime.date] = lambda: datetime.datetime.now(datetime.UTC).date(),
    ) -> None:
        self._file, self._known_roles, self._today = folder / FILE, known_roles, today
        self._lock = threading.RLock()
        self._users: dict[str, list[str]] = {}
        self._tokens: list[Json] = []
        if self._file.exists():
            held = json.loads(self._file.read_text())
            self._users, self._tokens = held["users"], held["tokens"]

    def create_user(self, user: str, roles: list[str], by: str) -> Json:
        with self._lock:
            if not USER_NAME.fullmatch(user):
                raise UserError(f"Username {user} must match regex ^{USER_NAME.pattern}$")
            if user in self._users:
                raise UserError(f"User {user} already exists")
            for role in roles:
                self._check_role(role)
            self._users[user] = sorted(set(roles))
            self._save()
            return {"id": user, "created_by": by}

    def user(self, user: str) -> Json:
        self._check_user(user)
        return {"id": user, "roles": [{"role_name": role} for role in self._users[user]]}

    def assign(self, user: str, role: str, by: str) -> Json:
        with self._lock:
            self._check_role(role)
            self._check_user(user)
            self._users[user] = sorted({*self._users[user], role})
            self._save()
            return {"user_id": user, "role_name": role, "assigned_by": by}

    def create_token(self, user: str, name: str, expires: str, description: str, roles: list[str]) -> str:
        """Creates an access token and returns its value, which is stored nowhere."""
        with self._lock:
            day = self._expiry(name, expires)
            wanted = roles or self._users.get(user, [])
            if not wanted:
                raise UserError("At least one role must be specified for the access token.")
            if not set(wanted) <= set(self._users.get(user, [])):
                raise UserError("User does not have all the requested roles. Token creation failed.")
            if any(each["user"] == user and each["name"] == name for each in self._tokens):
                raise UserError(f"Token name {name} already exists.")
            value = secrets.token_urlsafe(32)
            self._tokens.append(
                {
                    "user": user,
                    "name": name,
                    "expires": day.isoformat(),
                    "description": description,
                    "roles": wanted,
                    "digest": digest(value),
                }
            )
            self._save()
            return value

    def delete_token(self, user: str, name: str) -> None:
        with self._lock:
            self._check_user(user)
            rest = [each for each in self._tokens if (each["user"], each["name"]) != (user, name)]
            if len(rest) == len(self._tokens):
                raise UserError(f"Access token {name} does not exist.")
            self._tokens = rest
            self._save()

    def tokens(self, user: str) -> list[Json]:
        self._check_user(user)
        return [
            {
                "user_name": user,
                "token_name": each["name"],
                "expires_at": f"{each['expires']}T00:00:00",
                "description": each["description"],
                "roles": each["roles"],
            }
            for each in sorted(self._tokens, key=lambda each: str(each["name"]))
            if each["user"] == user
        ]

    def who(self, value: str) -> tuple[str, list[str]]:
        """Name of the user to whom the access token `value` belongs, and those roles of the token that the user still
        has. Raises UserError if the token is unknown or has expired.
        """
        if len(value) != TOKEN_LENGTH:
            raise UserError(f"Access token has invalid length {len(value)}")
        found = next((each for each in self._tokens if each["digest"] == digest(value)), None)
        if found is None:
            raise UserError("Access Token is invalid")
        if datetime.date.fromisoformat(found["expires"]) <= self._today():
            raise UserError("Access Token has expired")
        user = str(found["user"])
        # A role that the user has lost is lost for the user's tokens, too.
        return user, [role for role in found["roles"] if role in self._users[user]]

    def _expiry(self, name: str, expires: str) -> datetime.date:
        if not TOKEN_NAME.fullmatch(name):
            raise UserError(f"Token name {name} must match regex ^{TOKEN_NAME.pattern}$")
        try:
            day = datetime.datetime.strptime(expires, "%Y-%m-%d").date()
        except ValueError:
            raise UserError(f"Invalid date format {expires}. Date must be in YYYY-MM-DD format") from None
        if day > self._today() + datetime.timedelta(days=LONGEST_DAYS):
            raise UserError(f"Access token expiration date cannot be more than {LONGEST_DAYS}d from now")
        if day <= self._today():
            raise UserError(f"Expiration date must be past the current date ({self._today()})")
        return day

    def _check_user(self, user: str) -> None:
        if user not in self._users:
            raise UserError(f"User {user} not found")

    def _check_role(self, role: str) -> None:
        if role not in {*ROLES, *self._known_roles()}:
            raise UserError(f"Role {role} does not exist")

    def _save(self) -> None:
        unfinished = self._file.with_suffix(".new")
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump({"users": self._users, "tokens": self._tokens}, file)
        unfinished.rename(self._file)


def digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()
