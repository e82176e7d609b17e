"""Who owns the fields of an object, and whose fields an update takes over. Pure.

Behaviour: pulumi-kubernetes v4, provider/pkg/await; client-go, util/csaupgrade.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from physical_ai.simulator.kubernetes.client import ApiError
from physical_ai.simulator.kubernetes.objects import Object, metadata

_OWNER = re.compile(r'conflict with "([^"]+)"')


def is_taken_over(manager: str) -> bool:
    """Whether an update takes the fields of this manager without a conflict: those of creates and of kubectl."""
    return manager == "pulumi-kubernetes" or manager.startswith("kubectl")


def moved(live: Object, manager: str) -> list[Object] | None:
    """`managedFields` with the fields of such managers given to `manager`, to be applied; None where there are none."""
    entries = cast("list[Object]", metadata(live).get("managedFields") or [])
    taken = [each for each in entries if _is_update(each) and is_taken_over(str(each.get("manager")))]
    if not taken:
        return None
    mine = [each for each in entries if each.get("manager") == manager and each.get("operation") == "Apply"]
    fields: Object = {}
    for each in (*mine, *taken):
        fields = united(fields, cast("Object", each.get("fieldsV1") or {}))
    own = {**(mine or taken)[0], "manager": manager, "operation": "Apply", "fieldsV1": fields}
    return [own, *(each for each in entries if each not in taken and each not in mine)]


def _is_update(entry: Mapping[str, Any]) -> bool:
    return entry.get("operation") == "Update" and not entry.get("subresource")


def united(one: Object, other: Object) -> Object:
    """The union of two sets of fields (FieldsV1)."""
    result = dict(one)
    for key, value in other.items():
        result[key] = united(cast("Object", result.get(key) or {}), cast("Object", value))
    return result


def conflicting(problem: ApiError) -> list[str]:
    """The managers that a refused apply conflicts with."""
    causes = cast("list[Mapping[str, Any]]", problem.details.get("causes") or [])
    return [found[1] for each in causes if (found := _OWNER.search(str(each.get("message"))))]
