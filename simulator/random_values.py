"""Simulation of Pulumi's provider `random`: the passwords and bytes that the program uses. Each value is generated once
and then kept in the state.
"""

from __future__ import annotations

import base64
import secrets
import string
from typing import Any, ClassVar

from simulator.wire.provider import Diff, Failure, Provider, Refused, Request
from simulator.wire.values import UNKNOWN, Secret, changes

PASSWORD, BYTES = "random:index/randomPassword:RandomPassword", "random:index/randomBytes:RandomBytes"
_OUTPUTS = {PASSWORD: ("result",), BYTES: ("base64", "hex")}
_LEAST = {"minLower": string.ascii_lowercase, "minUpper": string.ascii_uppercase, "minNumeric": string.digits}
_DEFAULTS: dict[str, Any] = {
    "lower": True,
    "upper": True,
    "number": True,
    "numeric": True,
    "special": True,
    **dict.fromkeys([*_LEAST, "minSpecial"], 0),
}
_KNOWN = {PASSWORD: {"length", "keepers", "overrideSpecial", *_DEFAULTS}, BYTES: {"length", "keepers"}}
_SPECIAL = "!@#$%&*()-_=+[]{}<>:?"


class RandomValues(Provider):
    """Provider of random values. A change of any input generates a new value; nothing is stored outside the state.

    A password's `bcryptHash` is left out, because nothing reads it.
    """

    package: ClassVar[str] = "random"
    version: ClassVar[str] = "4.21.4"

    def check(
        self, request: Request, old_inputs: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Failure]]:
        if request.type not in _OUTPUTS:
            raise Refused(f"the simulator has no model of {request.type}")
        given = {key: value for key, value in inputs.items() if value is not None}
        failures = [
            Failure(key, f"unsupported argument. An argument named {key} is not expected here")
            for key in given
            if key not in _KNOWN[request.type]
        ]
        length = given.get("length")
        if length is not UNKNOWN:
            whole = isinstance(length, int | float)
            if not whole or length < 1:
                failures.append(Failure("length", f"length must be at least 1, got: {length}"))
            elif (least := sum(int(given.get(key, 0)) for key in (*_LEAST, "minSpecial"))) > length:
                failures.append(Failure("length", f"length must be at least the sum of the minimums, {least}"))
        defaults = _DEFAULTS if request.type == PASSWORD else {}
        return {**defaults, **given}, failures

    def diff(
        self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> Diff:
        changed = changes(old_inputs, inputs)
        return Diff(changed, replaces=tuple(changed))

    def create(self, request: Request, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if request.preview:
            return "", {**inputs, **{name: Secret(UNKNOWN) for name in _OUTPUTS[request.type]}}
        length = int(inputs["length"])
        if request.type == BYTES:
            made = secrets.token_bytes(length)
            texts = {"base64": base64.b64encode(made).decode(), "hex": made.hex()}
            return texts["base64"][:8], {**inputs, **{name: Secret(text) for name, text in texts.items()}}
        return "none", {**inputs, "result": Secret(_password(length, inputs))}

    def read(
        self, request: Request, outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        return request.id, outputs, inputs

    def update(
        self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> dict[str, Any]:
        raise Refused("a random value is replaced, never updated")

    def delete(self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any]) -> None:
        """Does nothing, because a random value exists only in the state."""


def _password(length: int, inputs: dict[str, Any]) -> str:
    special = str(inputs.get("overrideSpecial") or _SPECIAL)
    kinds = {"lower": string.ascii_lowercase, "upper": string.ascii_uppercase, "numeric": string.digits}
    every = "".join(letters for kind, letters in kinds.items() if inputs[kind])
    every += special if inputs["special"] else ""
    least = [secrets.choice(letters) for key, letters in _LEAST.items() for _ in range(int(inputs[key]))]
    least += [secrets.choice(special) for _ in range(int(inputs["minSpecial"]))]
    made = least + [secrets.choice(every) for _ in range(length - len(least))]
    secrets.SystemRandom().shuffle(made)
    return "".join(made)
