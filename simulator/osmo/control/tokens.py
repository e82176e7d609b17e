"""JSON Web Tokens of the simulation's Entra ID and OSMO.

Entra ID and OSMO sign with the same secret key here, and the gateway checks with that key (HS256). In reality both sign
with private keys, and Envoy fetches the public keys. Anybody who can read this user's files can therefore sign tokens
of the simulation.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

KEY_FILE = "token-signing.key"
HEADER = {"alg": "HS256", "typ": "JWT"}


class Invalid(Exception):
    """Error if a text is not a token, if another key signed the token, or if the token is outside its validity period.
    The error's text names the reason.
    """


def key_in(folder: Path) -> bytes:
    """The simulation's signing key, created once."""
    path = folder / KEY_FILE
    if not path.exists():
        unfinished = folder / f"{KEY_FILE}.{os.getpid()}"
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
        try:
            # Another process may have created the key meanwhile.
            os.link(unfinished, path)
        except FileExistsError:
            pass
        finally:
            unfinished.unlink()
    return path.read_bytes()


def sign(claims: Mapping[str, Any], key: bytes) -> str:
    text = ".".join(_encoded(json.dumps(part).encode()) for part in (HEADER, claims))
    return f"{text}.{_encoded(_signature(text, key))}"


def claims_of(token: str, key: bytes, now: float | None = None) -> dict[str, Any]:
    """Claims of a valid token. Raises Invalid."""
    text, _, signature = token.rpartition(".")
    try:
        header, claims = (json.loads(_decoded(part)) for part in text.split("."))
        given = _decoded(signature)
    except ValueError:
        raise Invalid("Jwt is not in the form of Header.Payload.Signature") from None
    if header != HEADER or not hmac.compare_digest(given, _signature(text, key)):
        raise Invalid("Jwt verification fails")
    moment = time.time() if now is None else now
    if float(claims.get("exp", 0)) <= moment:
        raise Invalid("Jwt is expired")
    if float(claims.get("nbf", 0)) > moment + 60:
        raise Invalid("Jwt not yet valid")
    return claims


def _signature(text: str, key: bytes) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
