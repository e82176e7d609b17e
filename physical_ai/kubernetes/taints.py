"""Taints and tolerations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """True where a toleration fits a taint, by Kubernetes' rule: a toleration without effect or key fits any; `Exists`
    fits any value; `Equal` needs the same value.
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
