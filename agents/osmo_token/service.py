"""OSMO's service: users, roles and access tokens, as version 6.3 has them.

The calls are those of the commands `osmo user` and `osmo token` (NVIDIA/OSMO src/cli/user.py, access_token.py and
src/service/core/auth/auth_service.py). A user error is status 400 with its text under `message`; newer versions may
answer 404 and 409, which mean the same here.
"""

from __future__ import annotations

import datetime
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from json_http import Refused, Server

ROLE = "osmo-backend"
"""What a backend's agents need, and nothing else."""
MARK = "physical-ai: backend agents"
"""Description of the tokens that this program creates. It deletes no others."""
USER_ERRORS = frozenset({400, 404, 409})


@dataclass(frozen=True)
class Token:
    """A token that the service knows; it does not know its value, only a digest."""

    name: str
    expires: str
    """The first day on which it is refused, as YYYY-MM-DD in UTC."""
    is_ours: bool


class Service:
    """The service, through its gateway, as its default administrator.

    The password of the default administrator is an access token of that user (setup_default_admin in
    src/service/core/service.py), so it is exchanged for a JWT as every access token is.
    A JWT is valid for five minutes.
    """

    def __init__(self, url: str, password: Callable[[], str]) -> None:
        self._password, self._jwt = password, ""
        self._secrets: set[str] = set()
        self._server = Server(url, bearer=lambda: self._jwt, hidden=lambda: frozenset(self._secrets))

    def version(self) -> None:
        """Returns once the service answers. Raises Refused."""
        self._server.request("GET", "/api/version", anonymous=True)

    def log_in(self) -> None:
        """Raises Refused: with code 400 the password is wrong."""
        self._jwt = self._exchange(self._password())

    def refusal(self, token: str) -> str:
        """Why the service does not accept an access token; empty where it does.

        Raises:
            Refused: It did not say.
        """
        try:
            self._exchange(token)
        except Refused as refusal:
            if refusal.code not in (*USER_ERRORS, 401, 403):
                raise
            return refusal.reason or "refused"
        return ""

    def _exchange(self, token: str) -> str:
        self._secrets.add(token)
        answer = self._server.request("POST", "/api/auth/jwt/access_token", {"token": token}, anonymous=True)
        found = str(_fields(answer).get("token") or "")
        if not found:
            raise Refused("POST /api/auth/jwt/access_token", 0, "the answer has no token")
        self._secrets.add(found)
        return found

    def ensure_user(self, user: str) -> None:
        """The user exists, with the one role. Raises Refused."""
        try:
            self._admin("POST", "/api/auth/user", {"id": user, "roles": [ROLE]})
        except Refused as refusal:
            if refusal.code not in USER_ERRORS or not _exists(refusal):
                raise
        # Also for a user that someone has created without it; the call changes nothing where the role is assigned.
        self._admin("POST", f"/api/auth/user/{_quoted(user)}/roles", {"role_name": ROLE})

    def tokens(self, user: str) -> Mapping[str, Token]:
        """The user's tokens by name. Raises Refused."""
        found = self._admin("GET", f"/api/auth/user/{_quoted(user)}/access_token")
        items = [_fields(each) for each in cast("list[Any]", found if isinstance(found, list) else [])]
        return {
            str(each["token_name"]): Token(
                str(each["token_name"]), str(each.get("expires_at", ""))[:10], each.get("description") == MARK
            )
            for each in items
            if "token_name" in each
        }

    def create(self, user: str, name: str, expires: datetime.date) -> str:
        """The value of a new token, which the service never shows again. Raises Refused."""
        query = urllib.parse.urlencode({"expires_at": expires.isoformat(), "description": MARK, "roles": ROLE})
        value = self._admin("POST", f"{self._path(user, name)}?{query}")
        if not isinstance(value, str) or not value:
            raise Refused(f"POST {self._path(user, name)}", 0, "the answer is no token")
        self._secrets.add(value)
        return value

    def delete(self, user: str, name: str) -> None:
        """The user has no token of this name. Raises Refused."""
        try:
            self._admin("DELETE", self._path(user, name))
        except Refused as refusal:
            if refusal.code != 404 and (refusal.code != 400 or "does not exist" not in refusal.reason):
                raise

    def _path(self, user: str, name: str) -> str:
        return f"/api/auth/user/{_quoted(user)}/access_token/{_quoted(name)}"

    def _admin(self, method: str, path: str, body: Any = None) -> Any:
        try:
            return self._server.request(method, path, body)
        except Refused as refusal:
            if refusal.code != 401:
                raise
        self.log_in()  # the JWT has expired
        return self._server.request(method, path, body)


def _exists(refusal: Refused) -> bool:
    return refusal.code == 409 or "already exists" in refusal.reason


def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def _fields(answer: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", answer) if isinstance(answer, dict) else {}
