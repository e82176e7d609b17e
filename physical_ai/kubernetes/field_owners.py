"""The managers of an object's fields, as the API server records them in `metadata.managedFields`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from physical_ai.kubernetes.objects import at


def owners(item: Mapping[str, Any], *path: str) -> set[str]:
    """Managers of one field; empty where the API server has recorded none.

    >>> fields = {"f:metadata": {"f:labels": {"f:example.com/a": {}}}}
    >>> node = {"metadata": {"managedFields": [{"manager": "kubectl-label", "fieldsV1": fields}]}}
    >>> owners(node, "metadata", "labels", "example.com/a"), owners(node, "spec", "taints")
    ({'kubectl-label'}, set())
    """
    entries: Sequence[Mapping[str, Any]] = at(item, "metadata.managedFields", [])
    return {str(each.get("manager")) for each in entries if _has(each.get("fieldsV1"), path)}


def _has(fields: Any, path: Sequence[str]) -> bool:
    if not path:
        return True
    key = f"f:{path[0]}"
    return isinstance(fields, Mapping) and key in fields and _has(cast("Mapping[str, Any]", fields)[key], path[1:])
