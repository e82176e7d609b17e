"""Resource quantities: `500m`, `2Gi`, `1e3` (apimachinery, resource.Quantity)."""

from __future__ import annotations

import re
from decimal import Decimal, DecimalException
from typing import Any

_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "P": Decimal(10**15),
    "E": Decimal(10**18),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}


def quantity(value: Any) -> Decimal | None:
    """A number, or a string in the form of a resource quantity, in its base unit; None for anything else.

    >>> quantity("250m"), quantity("1Ki"), quantity("a lot")
    (Decimal('0.250'), Decimal('1024'), None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    form = re.fullmatch(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([KMGTPE]i|[numkMGTPE]?)", str(value))
    try:
        return Decimal(form[1]) * _SUFFIXES.get(form[2], Decimal(1)) if form else None
    except DecimalException:
        return None
