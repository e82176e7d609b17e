"""Login to the simulated OSMO: claims that the simulated Entra ID and OSMO write into tokens, and the caller that the
gateway reads from the claims.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.entra import TENANT_ID, Principal
from simulator.osmo.control import tokens

ENTRA = f"https://login.microsoftonline.com/{TENANT_ID}/v2.0"
"""Value of `iss` in the ID tokens of the simulated tenant."""
OSMO = "osmo"
"""Value of `iss` and `aud` in the tokens that the service creates."""
SECONDS = 3600
SERVICE_SECONDS = 300
"""Validity of tokens in seconds. `SECONDS`: ID tokens of Entra ID (Entra ID's default). `SERVICE_SECONDS`: tokens of
OSMO's service (the service's ACCESS_TOKEN_TIMEOUT).
"""


@dataclass(frozen=True)
class Caller:
    """Sender of a request. The gateway passes these facts to the service in headers."""

    user: str
    roles: tuple[str, ...]
    external: tuple[str, ...] = ()
    """Groups and app roles that the identity provider has given the caller. The service maps them to OSMO's roles."""


def id_token(principal: Principal, audience: str, key: bytes, now: float | None = None) -> str:
    """Signed ID token for a login of `principal` to the application whose client id is `audience`."""
    moment = int(time.time() if now is None else now)
    claims = {
        "iss": ENTRA,
        "aud": audience,
        "oid": principal.object_id,
        "preferred_username": principal.name,
        "groups": list(principal.groups),
        "iat": moment,
        "nbf": moment,
        "exp": moment + SECONDS,
    }
    return tokens.sign(claims, key)


def service_token(user: str, roles: list[str], key: bytes, now: float | None = None) -> tuple[str, int]:
    """The token that the service gives in exchange for an access token, and the time at which it expires, in seconds
    since the epoch.
    """
    moment = int(time.time() if now is None else now)
    end = moment + SERVICE_SECONDS
    claims = {"iss": OSMO, "aud": OSMO, "unique_name": user, "roles": roles, "iat": moment, "nbf": moment, "exp": end}
    return tokens.sign(claims, key), end


def caller_of(token: str, audience: str, key: bytes, now: float | None = None) -> Caller:
    """Caller whose name and roles a token contains. Raises tokens.Invalid."""
    claims = tokens.claims_of(token, key, now)
    if (claims.get("iss"), claims.get("aud")) == (OSMO, OSMO):
        return Caller(str(claims["unique_name"]), tuple(claims["roles"]))
    if claims.get("iss") != ENTRA:
        raise tokens.Invalid("Jwt issuer is not configured")
    if claims.get("aud") != audience:
        raise tokens.Invalid("Audiences in Jwt are not allowed")
    return Caller(str(claims["preferred_username"]), (), _external(claims))


def _external(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Groups and app roles in a token's claims.

    Entra ID writes groups into `groups`, or into `roles` together with app roles if the app registration has
    emit_as_roles.
    """
    return tuple(str(each) for name in ("groups", "roles") for each in claims.get(name) or ())
