"""Answers to requests made before a deployment: offers, quotas, rights, policies, locks, and verdicts on templates.

Shapes: azure-rest-api-specs; Microsoft.Authorization permissions 2022-04-01 and locks 2020-05-01,
Microsoft.PolicyInsights checkPolicyRestrictions 2023-03-01, Microsoft.Network usages 2024-05-01.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from simulator.azure import ids, offer_answers, rights
from simulator.azure.bodies import Json, get
from simulator.azure.cloud import Cloud
from simulator.azure.counted import COUNTED, numbers
from simulator.azure.data import mappings, tables
from simulator.azure.deployments import Judge
from simulator.azure.deployments.wire import foreseen, validated
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.offers import location
from simulator.azure.places import Region, regions
from simulator.azure.resource_answers import (
    below,
    group,
    listed,
    name_action,
    name_available,
    resource,
    resources,
)
from simulator.azure.roles import builtin_roles, role_of

SUBSCRIPTION = r"/subscriptions/(?P<subscription>[^/]+)"
_OWN = rf"{SUBSCRIPTION}/providers"
_DEPLOYMENT = rf"{_OWN}/Microsoft\.Resources/deployments/[^/]+"
_LOCATION = r"locations/(?P<region>[^/]+)"
_GROUP = rf"{SUBSCRIPTION}/resourceGroups/(?P<group>[^/]+)/providers"
_TYPE = r"(?P<type>Microsoft\.[A-Za-z]+/[A-Za-z]+)"
_PATH = r"[^/]+(?:/(?!providers/)[^/]+/[^/]+)+"
"""Namespace, types and names of a resource."""
DISPLAYED = ("West US 2", "West Europe", "Southeast Asia", "Sweden Central", "East US 2", "South Central US")
OWNER_ACTIONS = ("*",)
MORE_TYPES: dict[str, tuple[str, ...]] = {
    "Microsoft.Compute/virtualMachines": ("2024-07-01",),
    "Microsoft.Compute/locations/usages": ("2024-07-01",),
    "Microsoft.Network/locations/usages": ("2024-05-01",),
    "Microsoft.ContainerService/locations/usages": ("2025-05-01",),
    "Microsoft.Storage/locations/usages": ("2023-05-01",),
}
"""ARM types that only preflight requests use, since this project creates no such resources: ARM type → API versions.

Source for AKS's usages: Azure docs, resource provider operations, `Microsoft.ContainerService/locations/usages/read`;
their API version is assumed.
"""
Answer = tuple[int, Json]
Handle = Callable[[Mapping[str, str], Mapping[str, str], Any, str], Answer]
"""Function (parts of the path, parameters, body, caller) -> answer."""


@dataclass
class Questions:
    """Answers to preflight requests about one subscription."""

    cloud: Cloud
    name: str = "simulated"
    lacks: Collection[str] = ()
    """Resource types that are missing in Azure's list of providers."""

    def answer(self, method: str, path: str, parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        """HTTP status and body of the answer to a request. Raises ArmError."""
        for verb, pattern, handle in self._routes():
            match = re.fullmatch(pattern, path, re.IGNORECASE)
            if verb == method and match is not None:
                parts = match.groupdict()
                if "subscription" in parts:
                    self._own(parts["subscription"])
                return handle(parts, parameters, body, caller)
        message = f"The simulator has no model of {method} {path}."
        raise ArmError(Refusal("arm-api-version", 404, "InvalidResourceType", message))

    def _routes(self) -> list[tuple[str, str, Handle]]:
        return [
            ("POST", f"{_DEPLOYMENT}/validate", self._validate),
            ("POST", f"{_DEPLOYMENT}/whatIf", self._what_if),
            ("POST", rf"{_OWN}/Microsoft\.PolicyInsights/checkPolicyRestrictions", self._policies),
            ("GET", SUBSCRIPTION, self._subscription),
            ("GET", _OWN, self._providers),
            ("GET", r"(?P<scope>.*)/providers/Microsoft\.Authorization/permissions", self._permissions),
            ("GET", rf"{_OWN}/Microsoft\.Authorization/locks", self._locks),
            ("GET", rf"{_OWN}/Microsoft\.Compute/skus", self._sizes),
            ("GET", rf"{_OWN}/(?P<namespace>Microsoft\.[A-Za-z]+)/{_LOCATION}/usages", self._usages),
            ("GET", rf"{_OWN}/Microsoft\.ContainerService/{_LOCATION}/kubernetesVersions", self._versions),
            ("GET", rf"{_OWN}/Microsoft\.DBforPostgreSQL/{_LOCATION}/capabilities", self._capabilities),
            ("GET", rf"{_OWN}/(?P<namespace>Microsoft\.(?:Storage|Cache))/skus", self._skus),
            ("GET", rf"{_OWN}/Microsoft\.Features/providers/(?P<feature>[^/]+/features/[^/]+)", self._feature),
            ("POST", rf"{_OWN}/(?P<namespace>Microsoft\.[A-Za-z]+)/checkNameAvailability", self._name),
            ("GET", rf"(?P<scope>{SUBSCRIPTION}(?:/resourceGroups/[^/]+)?)/providers/{_TYPE}", self._read(listed)),
            ("GET", rf"{SUBSCRIPTION}/resourceGroups/(?P<group>[^/]+)", self._read(group)),
            ("GET", rf"{SUBSCRIPTION}/resourceGroups/(?P<group>[^/]+)/resources", self._read(resources)),
            ("GET", rf"(?P<above>{_GROUP}/{_PATH})/(?P<below>[^/]+|providers/[^/]+/[^/]+)", self._read(below)),
            ("GET", rf"(?P<id>{_GROUP}/.+)", self._read(resource)),
        ]

    def _read(self, answered: Callable[[Cloud, Mapping[str, str], str], Json]) -> Handle:
        return lambda parts, parameters, body, caller: (200, answered(self.cloud, parts, caller))

    def _own(self, subscription: str) -> None:
        if not ids.same(subscription, self.cloud.directory.subscription):
            message = f"The subscription '{subscription}' could not be found."
            raise ArmError(Refusal("arm-forbidden", 404, "SubscriptionNotFound", message))

    def _may(self, caller: str, action: str) -> None:
        scope = f"/subscriptions/{self.cloud.directory.subscription}"
        rights.authorize(self.cloud.azure(), caller, action, scope)

    def _judge(self, caller: str, action: str) -> Judge:
        self._may(caller, f"Microsoft.Resources/deployments/{action}/action")
        return Judge(self.cloud, caller)

    def _validate(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        return validated(self._judge(caller, "validate"), parts["subscription"], body)

    def _what_if(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        return foreseen(self._judge(caller, "whatIf"), parts["subscription"], body)

    def _policies(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        self._may(caller, "Microsoft.PolicyInsights/checkPolicyRestrictions/read")
        content: Json = get(body, "resourceDetails.resourceContent") or {}
        found = [each for each in self.cloud.restrictions.denials if each.denies(str(content.get("type", "")), content)]
        evaluations = [
            {
                "policyInfo": {
                    "policyAssignmentId": f"/subscriptions/{parts['subscription']}/providers/Microsoft.Authorization"
                    f"/policyAssignments/{each.name}"
                },
                "evaluationResult": "NonCompliant",
                "evaluationDetails": {"reason": f"{each.path} is not allowed."},
                "effectDetails": {"policyEffect": "Deny"},
            }
            for each in found
        ]
        return 200, {"fieldRestrictions": [], "contentEvaluationResult": {"policyEvaluations": evaluations}}

    def _subscription(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        found = {"subscriptionId": parts["subscription"], "displayName": self.name}
        return 200, {**found, "state": self.cloud.restrictions.state, "tenantId": self.cloud.directory.tenant}

    def _providers(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        versions = {each.arm_type: tables.published_versions()[each.arm_type] for each in mappings().values()}
        shown = {location(each) for each in DISPLAYED}
        everywhere = [*DISPLAYED, *(each for each in regions() if each not in shown)]
        by_namespace: dict[str, list[Json]] = {}
        for arm_type, published in (versions | MORE_TYPES).items():
            namespace, _, kind = arm_type.partition("/")
            if arm_type not in self.lacks:
                without = {location(each) for each in self.cloud.restrictions.closed.get(arm_type, ())}
                row = {
                    "resourceType": kind,
                    "apiVersions": list(reversed(published)),
                    "locations": [each for each in everywhere if location(each) not in without],
                }
                by_namespace.setdefault(namespace, []).append(row)
        registered = self.cloud.restrictions.registered
        known = None if registered is None else {each.lower() for each in registered}
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

    def _permissions(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        directory, azure, scope = self.cloud.directory, self.cloud.azure(), parts["scope"]
        found: list[Json] = []
        closed = any(ids.is_under(scope, each) for each in directory.closed)
        if ids.same(caller, directory.deployer) and not closed:
            found.append({"actions": list(OWNER_ACTIONS), "notActions": []})
        holders, own = azure.holders(caller), ids.is_under(scope, f"/subscriptions/{directory.subscription}")
        standing = [each for each in directory.roles if own and each.principal.lower() in holders]
        roles = [(builtin_roles()[each.role], each.assigns) for each in standing]
        for assignment in azure.of_kind("RoleAssignment"):
            properties = assignment.body["properties"]
            role = role_of(properties.get("roleDefinitionId"))
            held = str(properties.get("principalId", "")).lower() in holders
            if role and held and ids.is_under(scope, assignment.inputs["scope"]):
                roles.append((role, ()))
        found += [
            {"actions": list(role.actions), "notActions": list(role.not_actions), **_condition(assigns)}
            for role, assigns in roles
        ]
        return 200, {"value": found}

    def _locks(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        self._may(caller, "Microsoft.Authorization/locks/read")
        own = f"/subscriptions/{parts['subscription']}"
        return 200, {
            "value": [
                {"id": f"{scope}/providers/Microsoft.Authorization/locks/kept", "properties": {"level": level}}
                for scope, level in self.cloud.restrictions.locks.items()
                if ids.is_under(scope, own)
            ]
        }

    def _sizes(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        self._may(caller, "Microsoft.Compute/skus/read")
        wanted = re.fullmatch(r"location eq '([^']+)'", parameters.get("$filter", ""))
        region = self.cloud.azure().offers.region(wanted[1]) if wanted is not None else None
        rows = offer_answers.sizes(self.cloud.azure(), region) if region is not None else ()
        return 200, {"value": list(rows)}

    def _usages(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        namespace, azure = parts["namespace"], self.cloud.azure()
        self._may(caller, f"{namespace}/locations/usages/read")
        place = self._region(parts).name
        if namespace.lower() == "microsoft.compute":
            return 200, {"value": list(offer_answers.vcpu_usages(azure, place))}
        rows = {name: numbers(namespace, name, place, azure) for name in COUNTED.get(namespace.lower(), {})}
        return 200, {"value": [offer_answers.usage(name, *found) for name, found in rows.items()]}

    def _region(self, parts: Mapping[str, str]) -> Region:
        found = self.cloud.azure().offers.region(parts["region"])
        if found is None:
            message = f"The provided location '{location(parts['region'])}' is not available."
            raise ArmError(Refusal("arm-location-known", 400, "LocationNotAvailableForResourceType", message))
        return found

    def _versions(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        self._may(caller, "Microsoft.ContainerService/locations/kubernetesVersions/read")
        self._region(parts)
        return 200, {"values": offer_answers.kubernetes_versions()}

    def _capabilities(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        self._may(caller, "Microsoft.DBforPostgreSQL/locations/capabilities/read")
        return 200, {"value": [offer_answers.postgres(self.cloud.azure(), self._region(parts).name)]}

    def _skus(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        self._may(caller, f"{parts['namespace']}/skus/read")
        rows = offer_answers.redis if parts["namespace"].lower().endswith("cache") else offer_answers.storage
        return 200, {"value": list(rows(self.cloud.azure()))}

    def _feature(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        self._may(caller, "Microsoft.Features/providers/features/read")
        name = parts["feature"].replace("/features/", "/")
        return 200, {"name": name, "properties": {"state": self.cloud.restrictions.features.get(name, "NotRegistered")}}

    def _name(self, parts: Mapping[str, str], parameters: Mapping[str, str], body: Any, caller: str) -> Answer:
        self._may(caller, name_action(parts["namespace"]))
        return 200, name_available(self.cloud, body)


def _condition(assigns: Collection[str]) -> Json:
    """Condition by which the holder of a role assignment may assign only the roles in `assigns`; empty if `assigns` is
    empty (Azure docs, conditions-authorization).
    """
    if not assigns:
        return {}
    role = "@Request[Microsoft.Authorization/roleAssignments:RoleDefinitionId]"
    return {"condition": f"({role} ForAnyOfAnyValues:GuidEquals {{{', '.join(assigns)}}})", "conditionVersion": "2.0"}
