"""Check of the caller's rights for the declared resources: findings name each missing right, and the resources that
need it.

A right counts if the caller has it on the subscription, or on the resource's resource group. A caller with the right to
assign roles may be limited to some roles by a condition, which Azure lists with the right (Azure docs, RBAC
conditions).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from physical_ai.findings import Finding, Severity
from physical_ai.subscription import needs
from physical_ai.subscription.answers import NotThere, Permission, Unanswered
from workbench.preflight.declared import EVERY_ACTION

TOPIC, YOU, SOURCE = "role", "you", "Azure"
ASSIGN = "Microsoft.Authorization/roleAssignments/write"
SHOWN = 3
_GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_GROUP = re.compile(r"^/subscriptions/[^/]+/resourceGroups/[^/]+", re.IGNORECASE)
Permissions = Callable[[str], Sequence[Permission]]
"""Function that returns the caller's rights on the scope with the given id; for an empty id, on the subscription.
Raises Unanswered.
"""


@dataclass(frozen=True)
class Wanted:
    """A resource of the stack's own subscription that a deployment creates, as needed for the check of rights."""

    type: str
    """Pulumi's type token of the resource."""
    name: str
    resource_id: str
    role: str = ""
    """GUID of the role that a role assignment assigns; empty for any other resource."""

    @property
    def title(self) -> str:
        return f"{self.type.rpartition(':')[2]} {self.name}"


def rights_findings(wanted: Iterable[Wanted], permissions: Permissions) -> Iterator[Finding]:
    """A finding for each action that the caller may not perform, with the resources that need it. Raises Unanswered."""
    given = list(wanted)
    resources = [each for each in given if each.type in EVERY_ACTION]
    on_subscription = permissions("")
    by_action: dict[str, list[Wanted]] = {}
    for each in resources:
        for action in EVERY_ACTION[each.type]:
            by_action.setdefault(action, []).append(each)
    of_group: dict[str, Sequence[Permission]] = {}
    lacking = 0
    for action in needs.denied(by_action, on_subscription):
        without = [each for each in by_action[action] if not _on_group(action, each, permissions, of_group)]
        if without:
            lacking += 1
            yield _missing(action, without)
    yield from _limited(resources, on_subscription)
    if unknown := [each for each in given if each.type not in EVERY_ACTION]:
        names = ", ".join(f"{each.type} {each.name}" for each in unknown[:SHOWN])
        more = f" and {len(unknown) - SHOWN} others" if len(unknown) > SHOWN else ""
        text = f"not judged: what the creation of {names}{more} needs. The platform declares nothing of this type."
        yield Finding(Severity.UNKNOWN, TOPIC, YOU, text, None, SOURCE)
    if not lacking:
        text = f"has all rights on the subscription that {len(resources)} resources need"
        yield Finding(Severity.OK, TOPIC, YOU, text, None, SOURCE)


def _on_group(action: str, each: Wanted, ask: Permissions, known: dict[str, Sequence[Permission]]) -> bool:
    """True if the caller may perform `action` in the resource group of the resource `each`. False if not, if Azure does
    not tell (for example because the group does not exist yet), or if the resource is in no resource group.
    """
    found = _GROUP.match(each.resource_id)
    if found is None or found[0] == each.resource_id:
        return False
    group = found[0]
    if group not in known:
        try:
            known[group] = ask(group)
        except (NotThere, Unanswered):
            known[group] = ()
    return not needs.denied([action], known[group])


def _missing(action: str, resources: Sequence[Wanted]) -> Finding:
    more = f" and {len(resources) - SHOWN} others" if len(resources) > SHOWN else ""
    names = ", ".join(each.title for each in resources[:SHOWN])
    fix = "Owner, or Contributor with User Access Administrator, on the subscription or on the stack's resource group."
    return Finding(Severity.ERROR, TOPIC, YOU, f"may not: {action}, which {names}{more} need.", fix, SOURCE)


def _limited(resources: Sequence[Wanted], permissions: Sequence[Permission]) -> Iterator[Finding]:
    """Finding about roles that the stack assigns and the caller may not assign, because a condition on the caller's
    right does not name them.
    """
    assigning = [each for each in permissions if not needs.denied([ASSIGN], [each])]
    if not assigning or any(not each.condition for each in assigning):
        return
    known = {found.lower() for each in assigning for found in _GUID.findall(each.condition)}
    without = [each for each in resources if each.role and each.role.lower() not in known]
    if without:
        names = ", ".join(dict.fromkeys(f"{each.name} ({each.role})" for each in without))
        problem = f"may assign roles only under a condition, which does not name the role of {names}."
        fix = "Run bootstrap again, which writes the condition, or have an Owner add the roles to it."
        yield Finding(Severity.ERROR, TOPIC, YOU, problem, fix, SOURCE)
