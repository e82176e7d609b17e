"""Taints and tolerations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """True if a toleration fits a taint, by Kubernetes' rule. The effects must be equal, or the toleration has no
    effect. With `Exists`, the keys must be equal, or the toleration has no key. With `Equal`, both keys and values must
    be equal.
    """
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    match toleration.get("operator") or "Equal":
        case "Exists":
            return not toleration.get("key") or toleration["key"] == taint.get("key")
        case "Equal":
            same_value = (toleration.get("value") or "") == (taint.get("value") or "")
            return toleration.get("key") == taint.get("key") and same_value
        case _:
            return False
