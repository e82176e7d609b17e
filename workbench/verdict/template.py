"""ARM deployment templates of a stack's resources, within ARM's limits. Pure functions.

Resource groups are deployed to the subscription. The resources in a group are deployed by a nested deployment for that
group, also if the group is in another subscription. Limits: ARM docs, template best practices (4 MB for a template, 1
MB for a resource, 800 resources).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from workbench.verdict import bodies
from workbench.verdict.model import Deployment, Plan, Recorded, Subject
from workbench.verdict.subjects import subjects

SCHEMA = "https://schema.management.azure.com/schemas"
SUBSCRIPTION_SCHEMA = f"{SCHEMA}/2018-05-01/subscriptionDeploymentTemplate.json#"
GROUP_SCHEMA = f"{SCHEMA}/2019-04-01/deploymentTemplate.json#"
GROUP_TYPE, DEPLOYMENTS = "Microsoft.Resources/resourceGroups", "Microsoft.Resources/deployments"
DEPLOYMENTS_VERSION = "2022-09-01"
MOST_RESOURCES = 800
LARGEST_TEMPLATE, LARGEST_RESOURCE = 4 << 20, 1 << 20
_ROOM = 1 << 16
"""Number of bytes of a template that are reserved for all parts other than resources."""
_SETTINGS = 1 << 10
"""Number of bytes that are reserved for the settings of a what-if request."""


def plan(
    recorded: Iterable[Recorded], subscription: str, region: str, stack: str, fixed: Mapping[str, str] | None = None
) -> Plan:
    """The templates of all recorded Azure resources.

    Args:
        subscription: Id of the stack's subscription.
        fixed: Template expressions by placeholder in the recording, for example for the tenant's id.
    """
    found, parameters, left_out = subjects(recorded, subscription, fixed or {})
    beside = _ids(found)
    sizes = [(each, _size(_resource(each, beside))) for each in found]
    fits = [each for each, size in sizes if size <= LARGEST_RESOURCE]
    large = [each for each, size in sizes if size > LARGEST_RESOURCE]
    left_out += [(f"{each.arm_type} {each.name}", "it is larger than the 1 MB that ARM takes") for each in large]
    made: list[Deployment] = []
    waiting = _parts(fits)
    while waiting:
        part = waiting.pop(0)
        template = _template(part, fits, subscription, parameters)
        name = f"physai-check-{stack}"[:60] + (f"-{len(made) + 1}" if made else "")
        used = {key: value for key, value in parameters.items() if f"parameters('{key}')" in json.dumps(template)}
        deployment = Deployment(name, region, template, used, len(part))
        if len(part) > 1 and _size(deployment.body()) > LARGEST_TEMPLATE - _SETTINGS:
            # Nested deployments and parameters take more than the room that is kept for them.
            waiting[:0] = [part[: len(part) // 2], part[len(part) // 2 :]]
        else:
            made.append(deployment)
    return Plan(tuple(made), tuple(fits), tuple(left_out))


def _parts(found: Sequence[Subject]) -> list[list[Subject]]:
    """The resources, distributed over templates that each stay within ARM's size limit."""
    parts: list[list[Subject]] = []
    size, beside = 0, _ids(found)
    for each in found:
        own = _size(_resource(each, beside))
        if not parts or size + own > LARGEST_TEMPLATE - _ROOM:
            parts.append([])
            size = 0
        parts[-1].append(each)
        size += own
    return parts


def _template(
    part: Sequence[Subject], every: Sequence[Subject], subscription: str, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    ids = _ids(part)
    placed: dict[tuple[str, str], list[Subject]] = {}
    for each in part:
        of = bodies.subscription_of(each.resource_id) or subscription
        if each.arm_type != GROUP_TYPE:
            placed.setdefault((of, bodies.group_of(each.resource_id)), []).append(each)
    used = {group.lower() for of, group in placed if of.lower() == subscription.lower()}
    # Each request has all groups that it needs: a request creates nothing that a later one could use.
    groups = [
        each
        for each in every
        if each.arm_type == GROUP_TYPE
        and (each.resource_id in ids or bodies.group_of(each.resource_id).lower() in used)
    ]
    resources = [_resource(each, ids) for each in groups]
    own_groups = {bodies.group_of(each.resource_id).lower(): each.resource_id for each in groups}
    names = _names(placed, subscription)
    for (of, group), inside in placed.items():
        if not group and of.lower() == subscription.lower():
            resources += [_resource(each, ids) for each in inside]
            continue
        needs = {names[at] for at in placed if at != (of, group) and names[at] and _depends(inside, placed[at])}
        for number in range(0, len(inside), MOST_RESOURCES):
            chunk = inside[number : number + MOST_RESOURCES]
            name = names[of, group] + (f"-{number // MOST_RESOURCES + 1}" if number else "")
            waits = [f"[subscriptionResourceId('{DEPLOYMENTS}', '{each}')]" for each in sorted(needs)]
            if group.lower() in own_groups and of.lower() == subscription.lower():
                waits.append(own_groups[group.lower()])
            resources.append(_nested(name, (of if of.lower() != subscription.lower() else "", group), chunk, waits))
    return _document(SUBSCRIPTION_SCHEMA, resources, parameters)


def _names(placed: Iterable[tuple[str, str]], subscription: str) -> dict[tuple[str, str], str]:
    """Name of the nested deployment for each subscription and resource group. The name is empty for resources that are
    created directly in the stack's own subscription, which need no nested deployment.
    """
    found: dict[tuple[str, str], str] = {}
    for number, (of, group) in enumerate(placed, 1):
        is_own = of.lower() == subscription.lower()
        found[of, group] = "" if is_own and not group else f"in-{group or 'subscription'}"[:56] + f"-{number}"
    return found


def _depends(inside: Iterable[Subject], on: Iterable[Subject]) -> bool:
    ids = _ids(on)
    return any(ids & set(each.depends_on) for each in inside)


def _nested(name: str, place: tuple[str, str], inside: Sequence[Subject], waits: Sequence[str]) -> dict[str, Any]:
    """A nested deployment that creates the resources `inside`. ARM evaluates the template's expressions inside it.

    Args:
        place: Subscription and resource group of the deployment; an empty group for the subscription itself.
        waits: Resources and deployments that must exist first.
    """
    of, group = place
    beside = _ids(inside)
    resources = [_resource(each, beside) for each in inside]
    used = _parameters_of(resources)
    where = {"resourceGroup": group} if group else {"location": "[deployment().location]"}
    template = _document(GROUP_SCHEMA if group else SUBSCRIPTION_SCHEMA, resources, dict.fromkeys(used))
    return {
        "type": DEPLOYMENTS,
        "apiVersion": DEPLOYMENTS_VERSION,
        "name": name,
        **({"subscriptionId": of} if of else {}),
        **where,
        "dependsOn": list(waits),
        "properties": {
            "mode": "Incremental",
            "expressionEvaluationOptions": {"scope": "inner"},
            "parameters": {each: {"value": f"[parameters('{each}')]"} for each in used},
            "template": template,
        },
    }


def _parameters_of(resources: Sequence[Mapping[str, Any]]) -> list[str]:
    text = json.dumps(resources)
    names = [part.partition("')")[0] for part in text.split("[parameters('")[1:]]
    return list(dict.fromkeys(names))


def _document(schema: str, resources: Sequence[Any], parameters: Iterable[str]) -> dict[str, Any]:
    used = set(_parameters_of(resources))
    return {
        "$schema": schema,
        "contentVersion": "1.0.0.0",
        "parameters": {name: {"type": "secureString"} for name in parameters if name in used},
        "resources": list(resources),
    }


def _ids(subjects: Iterable[Subject]) -> Set[str]:
    return {each.resource_id for each in subjects}


def _resource(subject: Subject, beside: Set[str]) -> dict[str, Any]:
    """A resource as a template writes it. It depends only on resources in `beside`, the ids of those in the same
    template.
    """
    scope, _, path = subject.resource_id.rpartition("/providers/")
    segments = path.split("/")
    waits = [each for each in subject.depends_on if each in beside]
    if subject.arm_type == GROUP_TYPE:
        name, of = subject.resource_id.rpartition("/")[2], {}
    else:
        name = "/".join(segments[2::2])
        # A role assignment or setting belongs to a resource if its id has another provider before its own.
        of = {"scope": scope} if "/providers/" in scope else {}
    return {
        "type": subject.arm_type,
        "apiVersion": subject.api_version,
        "name": name,
        **of,
        **subject.body,
        **({"dependsOn": waits} if waits else {}),
    }


def _size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":")).encode())
