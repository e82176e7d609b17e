"""The Secret that the agents log in with: one object, which this program may read and change, and not create."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from json_http import Server

TOKEN, PREVIOUS = "token", "previous-token"
PREFIX = "physical-ai/token-"
NAME, PREVIOUS_NAME, EXPIRES, STATE = f"{PREFIX}name", f"{PREFIX}previous-name", f"{PREFIX}expires", f"{PREFIX}state"
"""Annotations: what people and gates may read, which is not the token."""
VALID = "valid"
"""Value of `STATE` of a token that the service accepts; any other value says what is wrong."""


@dataclass(frozen=True)
class Held:
    """What the Secret has. `name` is empty for a token that this program did not create."""

    token: str
    previous: str
    name: str
    previous_name: str
    state: str
    version: str
    expires: str = ""


class TokenSecret:
    """The Secret, by its path in the API."""

    def __init__(self, server: Server, namespace: str, name: str) -> None:
        self._server, self._path = server, f"/api/v1/namespaces/{namespace}/secrets/{name}"

    def read(self) -> Held:
        """Raises Refused."""
        found = _map(self._server.request("GET", self._path))
        data, metadata = _map(found.get("data")), _map(found.get("metadata"))
        notes = _map(metadata.get("annotations"))
        return Held(
            token=_decoded(data.get(TOKEN)),
            previous=_decoded(data.get(PREVIOUS)),
            name=str(notes.get(NAME) or ""),
            previous_name=str(notes.get(PREVIOUS_NAME) or ""),
            state=str(notes.get(STATE) or ""),
            version=str(metadata.get("resourceVersion") or ""),
            expires=str(notes.get(EXPIRES) or ""),
        )

    def write(self, held: Held, expires: str) -> None:
        """Stores the tokens, unless the object has changed since it was read. Raises Refused: 409 where it has."""
        self._patch(
            held.version,
            {NAME: held.name, PREVIOUS_NAME: held.previous_name or None, EXPIRES: expires, STATE: held.state},
            {TOKEN: _encoded(held.token), PREVIOUS: _encoded(held.previous) if held.previous else None},
        )

    def write_state(self, held: Held, state: str) -> None:
        """Records what the service says of the token. Raises Refused."""
        if held.state != state:
            self._patch(held.version, {STATE: state}, None)

    def _patch(self, version: str, notes: Mapping[str, Any], data: Mapping[str, Any] | None) -> None:
        metadata = {"resourceVersion": version, "annotations": dict(notes)}
        body: dict[str, Any] = {"metadata": metadata, **({} if data is None else {"data": dict(data)})}
        self._server.request("PATCH", self._path, body)


def _map(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _decoded(value: Any) -> str:
    try:
        return base64.b64decode(str(value or "")).decode().strip()
    except (binascii.Error, UnicodeDecodeError):
        return ""
