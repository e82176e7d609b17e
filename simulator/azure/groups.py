"""Deletion of the resources in a resource group."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simulator.azure import ids
from simulator.azure.data import rules
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.registry import models
from simulator.azure.state import Resource


@models("delete-order")
def empty(inside: Callable[[], Sequence[Resource]], delete: Callable[[str], None]) -> ArmError | None:
    """Deletes all resources that `inside` lists. A refused deletion, for example of a resource that another one uses,
    is tried again after the others.

    Returns None on success, or the first refusal if no remaining resource can be deleted.
    """
    while members := inside():
        tops = [r for r in members if not any(o is not r and ids.is_under(r.id, o.id) for o in members)]
        refused: list[ArmError] = []
        for resource in tops:
            try:
                delete(resource.id)
            except ArmError as error:
                refused.append(error)
        if len(refused) == len(tops):
            return refused[0]
    return None


@models("rg-delete")
def failure(group: Resource, refused: ArmError) -> ArmError:
    """Error with which the deletion of a resource group fails. `refused`: ARM's error for a resource in the group that
    cannot be deleted.
    """
    rule = rules()["rg-delete"]
    message = f"Deletion of resource group '{ids.name(group.id)}' failed: {refused.refusal.message}"
    return ArmError(Refusal(rule.id, rule.status, rule.codes[0], message))
