"""Decisions of OSMO's authorization service, which follow from roles. Pure functions.

An action is `resource:Verb`; a policy lists patterns of actions and of resources. A denial takes precedence over a
permission (docs/deployment_guide/appendix/authentication/roles_policies.rst).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from simulator.osmo_names import USER_ACTIONS

ADMIN, USER, BACKEND, DEFAULT = "osmo-admin", "osmo-user", "osmo-backend", "osmo-default"
GLOBAL = "*"
"""Resource against which the gateway checks an action that belongs to no pool."""


@dataclass(frozen=True)
class Policy:
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    denies: bool = False

    def matches(self, action: str, resource: str) -> bool:
        in_scope = resource == GLOBAL or any(in_resource(each, resource) for each in self.resources)
        return in_scope and any(fnmatchcase(action, each) for each in self.actions)


def in_resource(pattern: str, resource: str) -> bool:
    """True if a policy's resource pattern covers the resource of a request.

    A request about all pools is covered by a pattern for any one pool, so a role for one pool can act on workflows of
    every pool (NVIDIA/OSMO 6.3.1 src/utils/roles/action_registry.go, matchResource).
    """
    if resource.endswith("/*") and pattern.startswith(resource[:-1]):
        return True
    return pattern == resource or (pattern.endswith("*") and resource.startswith(pattern[:-1]))


@dataclass(frozen=True)
class Role:
    policies: tuple[Policy, ...]
    external: frozenset[str] = field(default=frozenset())
    """Names of groups and app roles of the identity provider whose members have the role."""


BUILT_IN: Mapping[str, Role] = {
    ADMIN: Role(
        (Policy(("*:*",), ("*",)), Policy(("internal:*",), ("*",), denies=True)),
        frozenset({ADMIN}),
    ),
    USER: Role(
        (
            Policy(
                USER_ACTIONS,
                ("*",),
            ),
            Policy(("workflow:*",), ("pool/default",)),
        ),
        frozenset({USER}),
    ),
    BACKEND: Role((Policy(("internal:Operator", "pool:List", "config:Read"), ("*",)),), frozenset({BACKEND})),
    DEFAULT: Role(()),
}
"""Roles in the chart's values (`service` 1.3.1, services.configs.roles), with only those actions that requests to the
simulated gateway need.
"""


def roles_of(configured: Mapping[str, Mapping[str, Any]]) -> dict[str, Role]:
    """All roles, by name: OSMO's built-in roles, and the roles of the configuration `configured`. For a role with a
    built-in name, each field that the configuration sets replaces the built-in value.
    """
    found = dict(BUILT_IN)
    for name, given in configured.items():
        base = found.get(name, Role((), frozenset({name})))
        policies = given.get("policies")
        external = given.get("external_roles")
        found[name] = Role(
            base.policies if policies is None else tuple(_policy(each) for each in policies),
            base.external if external is None else frozenset(str(each) for each in external),
        )
    return found


def _policy(given: Mapping[str, Any]) -> Policy:
    actions = tuple(str(each) for each in given.get("actions") or ())
    resources = tuple(str(each) for each in given.get("resources") or ())
    return Policy(actions, resources, str(given.get("effect", "Allow")) == "Deny")


def mapped(roles: Mapping[str, Role], external: Iterable[str]) -> list[str]:
    """Names of the `roles` that are assigned to any of the groups or app roles in `external`."""
    given = set(external)
    return sorted(name for name, role in roles.items() if role.external & given)


def allowed(roles: Mapping[str, Role], names: Iterable[str], action: str, resource: str = GLOBAL) -> bool:
    matching = [
        policy
        for name in {*names, DEFAULT}
        if name in roles
        for policy in roles[name].policies
        if policy.matches(action, resource)
    ]
    return bool(matching) and not any(policy.denies for policy in matching)
