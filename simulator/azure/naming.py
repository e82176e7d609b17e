"""Names that azure-native generates if a program gives none."""

from __future__ import annotations

import re
import uuid
from typing import Any

from simulator.azure.data import TypeMapping, schema
from simulator.wire import Request

SUFFIX = 8
"""Hex digits that follow the logical name."""


def autoname(mapping: TypeMapping, request: Request) -> str:
    """A generated name: the logical name and eight hex digits, cut to the allowed length; a GUID for role assignments.

    The digits come from the engine's seed, so the name is the same in the preview and the update after it.
    """
    if mapping.kind == "RoleAssignment":
        seed = request.random_seed[:16]
        return str(uuid.UUID(bytes=seed)) if len(seed) == 16 else str(uuid.uuid5(uuid.NAMESPACE_URL, request.urn))
    if request.proposed_name:
        return request.proposed_name
    digits = request.random_seed[: SUFFIX // 2].hex() or uuid.uuid5(uuid.NAMESPACE_URL, request.urn).hex[:SUFFIX]
    rule: dict[str, Any] = dict(schema(mapping.kind).get("name", {}))
    stem = request.name
    if "-" not in rule.get("pattern", "-"):
        stem = re.sub(r"[^a-z0-9]", "", stem.lower())
    return stem[: rule.get("maxLength", 80) - len(digits)] + digits


def looks_autonamed(mapping: TypeMapping, logical: str, name: Any) -> bool:
    """True if the provider generated the name, so that a replacement gets another name and can exist at
    the same time.
    """
    if not isinstance(name, str):
        return False
    if mapping.kind == "RoleAssignment":
        return re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name) is not None
    stem, digits = name[:-SUFFIX], name[-SUFFIX:]
    return bool(stem) and logical.startswith(stem) and re.fullmatch(r"[0-9a-f]{8}", digits) is not None
