"""OSMO's units for memory, storage, CPU and durations. OSMO's units differ from Kubernetes' units: G means Gi."""

from __future__ import annotations

import datetime
import re

from workbench.osmo.refusal import Refusal, crash

AMOUNT = re.compile(r"(?P<size>\d+(?:\.\d+)?)(?P<unit>[a-zA-Z]*)")
"""Pattern of an amount: a number, with a unit or without one, and no other characters."""

POWERS: dict[str, int] = {
    **dict.fromkeys(("T", "Ti", "TiB"), 10),
    **dict.fromkeys(("G", "Gi", "GiB"), 0),
    **dict.fromkeys(("M", "Mi", "MiB"), -10),
    **dict.fromkeys(("K", "Ki", "KiB"), -20),
    "B": -30,
    "m": -40,
}
"""Binary exponent of each unit: a unit with the exponent n is 2**n Gi. OSMO has no unit P, and its unit `m` is smaller
than a byte.
"""

TOKEN_UNITS = ("Ti", "Gi", "Mi", "Ki", "B", "m")
"""Units in which the tokens USER_MEMORY_… and USER_STORAGE_… exist."""

_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\n?")
_SPANS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds"}


def split_amount(text: str) -> tuple[str, str] | None:
    """Number and unit of an amount, both as text; None if it is invalid."""
    match = AMOUNT.fullmatch(text)
    return (match["size"], match["unit"]) if match else None


def convert(text: str, target: str) -> float:
    """An amount converted to the unit `target`. An amount without a unit is in bytes.

    >>> convert("1.5Gi", "Mi"), convert("1G", "Gi")
    (1536.0, 1.0)

    Raises Refusal for an invalid amount.
    """
    amount = split_amount(text)
    if amount is None:
        raise crash(f"'{text}' is not a number with a unit")
    number, unit = amount
    for name in (unit or "B", target):
        if name not in POWERS:
            raise Refusal("OSMOSchemaError", f"'{text}': '{name}' is not a unit; units: {', '.join(POWERS)}")
    return float(number) * 2.0 ** (POWERS[unit or "B"] - POWERS[target])


def stored_amount(text: str, field: str) -> str:
    """Amount that OSMO stores for `text`, an amount in a workflow: `text` itself if it has a unit; otherwise the bytes
    in `text` converted to Ki and written as a float.

    Raises Refusal for an invalid amount (a sign, a space, a percentage) or an unknown unit.
    """
    amount = split_amount(text)
    if amount is None:
        raise Refusal("OSMOResourceError", f"{field}: '{text}' is not a number with a unit, such as 16Gi")
    if not amount[1]:
        return f"{convert(text, 'Ki')}Ki"
    if amount[1] not in POWERS:
        raise Refusal("OSMOResourceError", f"{field}: '{text}' has an unknown unit; write Ki, Mi, Gi or Ti")
    return text


def duration(text: str) -> datetime.timedelta:
    """A duration from a text: one number and one unit (d, h, m, s, ms, us), or ISO 8601 with days as the largest unit.

    >>> duration("90m") == duration("PT1H30M")
    True

    Raises ValueError for any other text.
    """
    problem = f"'{text}' is not a duration: write one number and one of d, h, m, s, ms, us, or ISO 8601 such as PT1H30M"
    if text.startswith("P"):
        match = _ISO.fullmatch(text)
        if match is None or not any(match.groups()):
            raise ValueError(problem)
        days, hours, minutes, seconds = (float(group or 0) for group in match.groups())
        return _timedelta(text, days=days, hours=hours, minutes=minutes, seconds=seconds)
    unit = text[-2:] if len(text) >= 3 and text[-2:] in ("ms", "us") else text[-1:]
    try:
        number = int(text[: len(text) - len(unit)])
    except ValueError:
        raise ValueError(problem) from None
    if unit not in _SPANS:
        raise ValueError(problem)
    return _timedelta(text, **{_SPANS[unit]: number})


def _timedelta(text: object, **parts: float) -> datetime.timedelta:
    try:
        return datetime.timedelta(**parts)
    except (OverflowError, ValueError):
        raise ValueError(f"'{text}' is not a duration: it is longer than a million years, or no number") from None


def span(value: object) -> datetime.timedelta:
    """A duration from a value in a file: a number of seconds, or a text. Raises ValueError for any other value."""
    if isinstance(value, datetime.timedelta):
        return value
    if isinstance(value, bool):
        raise ValueError(f"{value} is no duration, although OSMO reads it as {int(value)} s: write seconds, or 2h")
    if isinstance(value, int | float):
        return _timedelta(value, seconds=value)
    if isinstance(value, str):
        return duration(value)
    raise ValueError(f"{value!r} is not a duration: write seconds, or text such as 2h")
