"""Admission of a request by Azure Resource Manager itself, which comes before the checks of the service.

State of the subscription, registrations, regions of a type, policies, and locks. Requests for resources of another
subscription are admitted, because the simulator does not know its restrictions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simulator.azure import ids
from simulator.azure.bodies import Json
from simulator.azure.data import rules
from simulator.azure.errors import Refusal
from simulator.azure.offers import location
from simulator.azure.places import regions
from simulator.azure.registry import models
from simulator.azure.rules.base import Delete, Put, Request

ALWAYS = frozenset({"microsoft.resources", "microsoft.authorization"})
"""Resource providers that are registered in every subscription."""
DISABLED = ("Disabled", "Deleted")
READ_ONLY = "ReadOnly"


def admission(request: Request) -> Iterator[Refusal]:
    """Refusals by ARM, in the order in which it finds them."""
    if not ids.is_under(request.id, f"/subscriptions/{request.azure.directory.subscription}"):
        return
    yield from _disabled(request)
    if isinstance(request, Put):
        yield from _unregistered(request)
        yield from _closed(request)
        yield from _denied(request)
    yield from _locked(request)


def _refusal(rule_id: str, message: str, target: str = "", information: Sequence[Json] = ()) -> Refusal:
    """A refusal with an envelope, as ARM answers for every service."""
    rule = rules()[rule_id]
    return Refusal(rule_id, rule.status, rule.codes[0], message, target, information=tuple(information))


@models("arm-subscription-disabled")
def _disabled(request: Request) -> Iterator[Refusal]:
    azure = request.azure
    if azure.restrictions.state in DISABLED:
        message = (
            f"The subscription '{azure.directory.subscription}' is disabled and therefore marked as read only. You"
        )
        message += " cannot perform any write actions on this subscription until it is re-enabled."
        yield _refusal("arm-subscription-disabled", message)


@models("arm-rp-registered")
def _unregistered(put: Put) -> Iterator[Refusal]:
    namespace, known = put.mapping.arm_type.partition("/")[0], put.azure.restrictions.registered
    if known is not None and namespace.lower() not in ALWAYS | {each.lower() for each in known}:
        message = f"The subscription is not registered to use namespace '{namespace}'. See https://aka.ms/rps-not-found"
        yield _refusal("arm-rp-registered", f"{message} for how to register subscriptions.", namespace)


@models("arm-location-known")
def _closed(put: Put) -> Iterator[Refusal]:
    kind, wanted = put.mapping.arm_type, put.body.get("location")
    without = {location(each) for each in put.azure.restrictions.closed.get(kind, ())}
    if isinstance(wanted, str) and put.old is None and location(wanted) in without:
        others = ",".join(sorted(regions().keys() - without))
        message = f"The provided location '{wanted}' is not available for resource type '{kind}'. List of available"
        message += f" regions for the resource type is '{others}'."
        yield _refusal("arm-location-known", message, "location")


@models("arm-policy")
def _denied(put: Put) -> Iterator[Refusal]:
    for each in put.azure.restrictions.denials:
        if each.denies(put.mapping.arm_type, put.body):
            name = ids.name(put.id)
            info = {"type": "PolicyViolation", "info": {"policyAssignmentDisplayName": each.name}}
            message = f"Resource '{name}' was disallowed by policy. Policy identifiers: '{each.name}'."
            yield _refusal("arm-policy", message, name, [info])


@models("arm-lock", "arm-lock-write")
def _locked(request: Request) -> Iterator[Refusal]:
    """Refusal of a change under a lock. A lock on a resource also keeps what contains the resource from being
    deleted.
    """
    deletes = isinstance(request, Delete)
    verb = "delete" if deletes else "write"
    scopes = [
        scope
        for scope, level in request.azure.restrictions.locks.items()
        if (deletes or level == READ_ONLY)
        and (ids.is_under(request.id, scope) or (deletes and ids.is_under(scope, request.id)))
    ]
    if scopes:
        message = f"The scope '{request.id}' cannot perform {verb} operation because following scope(s) are locked:"
        message += f" '{','.join(scopes)}'. Please remove the lock and try again."
        yield _refusal("arm-lock" if deletes else "arm-lock-write", message)
