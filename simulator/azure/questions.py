"""Answers to requests made before a deployment: offers, quotas, rights, policies, and verdicts on templates.

Shapes: azure-rest-api-specs; Microsoft.Compute skus 2021-07-01 and usages 2024-07-01, Microsoft.Network usages
2024-05-01, Microsoft.Authorization permissions 2022-04-01, Microsoft.PolicyInsights checkPolicyRestrictions 2023-03-01.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simulator.azure import ids, rights
from simulator.azure.bodies import Json, get
from simulator.azure.cloud import Cloud
from simulator.azure.data import mappings, tables
from simulator.azure.deployments import Denial, Judge
from simulator.azure.deployments.wire import foreseen, validated
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.roles import builtin_roles, role_of

_SUBSCRIPTION = r"/subscriptions/([^/]+)"
_DEPLOYMENT = rf"{_SUBSCRIPTION}/providers/Microsoft\.Resources/deployments/[^/]+"
_LOCATION = r"locations/([^/]+)"
EVERYWHERE = ("West US 2", "West Europe", "Southeast Asia", "Sweden Central", "East US 2", "South Central US")
OWNER_ACTIONS = ("*",)


@dataclass
class Questions:
    """Answers to preflight requests about one subscription."""

    cloud: Cloud
    name: str = "simulated"
    registered: Collection[str] | None = None
    """Registered resource providers; None for all that this project uses."""
    denials: Sequence[Denial] = ()
    counts: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Used and largest amount of each usage that Azure counts, by the usage's name."""
    closed: dict[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    """Names of the regions that do not offer a type, by ARM type."""
    lacks: Collection[str] = ()
    """Types that are missing in Azure's list of providers."""

    def answer(self, method: str, path: str, parameters: Mapping[str, str], body: Any, caller: str) -> tuple[int, Json]:
        """HTTP status and body of the answer to a request. Raises ArmError."""
        del parameters
        routes: list[tuple[str, str, Callable[[str, str, Any, str], tuple[int, Json]]]] = [
            ("POST", f"{_DEPLOYMENT}/validate$", self._validate),
            ("POST", f"{_DEPLOYMENT}/whatIf$", self._what_if),
            ("POST", rf"{_SUBSCRIPTION}/providers/Microsoft\.PolicyInsights/checkPolicyRestrictions$", self._policies),
            ("GET", rf"{_SUBSCRIPTION}$", self._subscription),
            ("GET", rf"{_SUBSCRIPTION}/providers$", self._providers),
            ("GET", r"(.*)/providers/Microsoft\.Authorization/permissions$", self._permissions),
            ("GET", rf"{_SUBSCRIPTION}/providers/(Microsoft\.[A-Za-z]+)/{_LOCATION}/usages$", self._usages),
        ]
        for verb, pattern, handle in routes:
            found = re.match(pattern, path, re.IGNORECASE)
            if verb == method and found is not None:
                if path.startswith("/subscriptions/") and found[1].lower().startswith("/subscriptions"):
                    return handle(found[1], "", body, caller)
                self._own(found[1])
                return handle(found[1], "/".join(found.groups()[1:]), body, caller)
        message = f"The simulator has no model of {method} {path}."
        raise ArmError(Refusal("arm-api-version", 404, "InvalidResourceType", message))

    def _own(self, subscription: str) -> None:
        if subscription.lower() != self.cloud.directory.subscription.lower():
            message = f"The subscription '{subscription}' could not be found."
            raise ArmError(Refusal("arm-forbidden", 404, "SubscriptionNotFound", message))

    def _judge(self, caller: str, action: str) -> Judge:
        scope = f"/subscriptions/{self.cloud.directory.subscription}"
        self.cloud.authorize(caller, f"Microsoft.Resources/deployments/{action}/action", scope)
        return Judge(self.cloud, caller, self.registered, self.denials)

    def _validate(self, subscription: str, rest: str, body: Any, caller: str) -> tuple[int, Json]:
        del rest
        return validated(self._judge(caller, "validate"), subscription, body)

    def _what_if(self, subscription: str, rest: str, body: Any, caller: str) -> tuple[int, Json]:
        del rest
        return foreseen(self._judge(caller, "whatIf"), subscription, body)

    def _policies(self, subscription: str, rest: str, body: Any, caller: str) -> tuple[int, Json]:
        del rest
        right = "Microsoft.PolicyInsights/checkPolicyRestrictions/read"
        self.cloud.authorize(caller, right, f"/subscriptions/{subscription}")
        content: Json = get(body, "resourceDetails.resourceContent") or {}
        found = [each for each in self.denials if each.denies(str(content.get("type", "")), content)]
        evaluations = [
            {
                "policyInfo": {
                    "policyAssignmentId": f"/subscriptions/{subscription}/providers/Microsoft.Authorization"
                    f"/policyAssignments/{each.name}"
                },
                "evaluationResult": "NonCompliant",
                "evaluationDetails": {"reason": f"{each.path} is not allowed."},
                "effectDetails": {"policyEffect": "Deny"},
            }
            for each in found
        ]
        return 200, {"fieldRestrictions": [], "contentEvaluationResult": {"policyEvaluations": evaluations}}

    def _subscription(self, subscription: str, rest: str, body: Any, caller: str) -> tuple[int, Json]:
        del rest, body, caller
        found = {"subscriptionId": subscription, "displayName": self.name, "state": "Enabled"}
        return 200, {**found, "tenantId": self.cloud.directory.tenant}

    def _providers(self, subscription: str, rest: str, body: Any, caller: str) -> tuple[int, Json]:
        del subscription, rest, body, caller
        by_namespace: dict[str, list[Json]] = {}
        for mapping in mappings().values():
            namespace, _, kind = mapping.arm_type.partition("/")
            if mapping.arm_type not in self.lacks:
                without = {each.lower() for each in self.closed.get(mapping.arm_type, ())}
                row = {
                    "resourceType": kind,
                    "apiVersions": list(reversed(tables.published_versions()[mapping.arm_type])),
                    "locations": [each for each in EVERYWHERE if each.lower() not in without],
                }
                by_namespace.setdefault(namespace, []).append(row)
        known = None if self.registered is None else {each.lower() for each in self.registered}
        return 200, {
            "value": [
                {
                    "namespace": namespace,
                    "registrationState": "Registered"
                    if known is None or namespace.lower() in known
                    else "NotRegistered",
                    "resourceTypes": kinds,
                }
                for namespace, kinds in by_namespace.items()
            ]
        }

    def _permissions(self, scope: str, rest: str, body: Any, caller: str) -> tuple[int, Json]:
        del rest, body
        directory = self.cloud.directory
        found: list[Json] = []
        closed = any(ids.is_under(scope, each) for each in directory.closed)
        if ids.same(caller, directory.deployer) and not closed:
            found.append({"actions": list(OWNER_ACTIONS), "notActions": []})
        for standing in directory.roles:
            if ids.same(standing.principal, caller):
                role = builtin_roles()[standing.role]
                found.append({"actions": list(role.actions), "notActions": list(role.not_actions)})
        for assignment in self.cloud.azure().of_kind("RoleAssignment"):
            properties = assignment.body["properties"]
            role = role_of(properties.get("roleDefinitionId"))
            if (
                role
                and ids.same(properties.get("principalId"), caller)
                and ids.is_under(scope, assignment.inputs["scope"])
            ):
                found.append({"actions": list(role.actions), "notActions": list(role.not_actions)})
        return 200, {"value": found}

    def _usages(self, subscription: str, rest: str, body: Any, caller: str) -> tuple[int, Json]:
        del body
        namespace = rest.split("/", maxsplit=1)[0]
        rights.authorize(
            self.cloud.azure(), caller, f"{namespace}/locations/usages/read", f"/subscriptions/{subscription}"
        )
        return 200, {
            "value": [
                {"name": {"value": name}, "currentValue": used, "limit": most, "unit": "Count"}
                for name, (used, most) in self.counts.items()
            ]
        }
