"""Checks of the resources of a template, one after the other. Each resource is checked as if the resources before it
existed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from physical_ai.catalog.azure_native import by_arm_type
from simulator.azure import ids, puts, rights, schema
from simulator.azure.admission import admission
from simulator.azure.bodies import Json, get, to_body
from simulator.azure.cloud import Cloud
from simulator.azure.deployments.expanding import Asked, Expander, Place
from simulator.azure.deployments.expressions import InvalidTemplate, Unresolved
from simulator.azure.deployments.inputs import inputs_of
from simulator.azure.errors import ArmError
from simulator.azure.rules import Put, refusals
from simulator.azure.state import AzureState
from simulator.azure.store import Store
from simulator.wire import Refused

LATER = 365 * 24 * 3600
"""Seconds by which validation moves the time ahead, so that every role assignment counts as being in effect."""


@dataclass
class Verdict:
    """Result of the checks of a template: ARM's errors, the changes that the deployment would make, and the rights that
    the caller lacks.
    """

    errors: list[Json] = field(default_factory=list[Json])
    changes: list[Json] = field(default_factory=list[Json])
    unauthorized: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Judge:
    """Checks of deployment templates with the rights of one caller."""

    cloud: Cloud
    caller: str

    def judge(self, properties: Mapping[str, Any], subscription: str) -> Verdict:
        """The verdict on a deployment at subscription scope. Raises InvalidTemplate."""
        verdict = Verdict()
        with TemporaryDirectory() as folder:
            store = Store(Path(folder) / "azure.json")
            for resource in self.cloud.azure().resources.values():
                store.put(copy.deepcopy(resource))
            staging = _Staging(self, store, verdict)
            functions = {
                "subscription": {"tenantId": self.cloud.directory.tenant, "subscriptionId": subscription},
                "deployment": {"location": "westus2"},
                "deployer": {"objectId": self.caller, "tenantId": self.cloud.directory.tenant},
            }
            expander = Expander(staging.reference, functions)
            for asked in expander.resources(properties, Place(subscription)):
                staging.add(asked)
        return verdict


@dataclass(frozen=True)
class _Staging:
    """The cloud as it would be after the resources that have been checked so far."""

    judge: Judge
    store: Store
    verdict: Verdict
    broken: set[str] = field(default_factory=set[str])
    """Keys of resources with an invalid body, for which no outputs can be computed."""

    def state(self) -> AzureState:
        now = self.judge.cloud.azure()
        return replace(now, resources=self.store.resources, now=now.now + LATER, replicates_after=0)

    def reference(self, resource_id: str) -> Any:
        """Outputs that Azure computes for a resource; a placeholder if its body is invalid. Raises InvalidTemplate."""
        resource = self.state().get(resource_id)
        if ids.key(resource_id) in self.broken:
            return Unresolved("unresolved")
        if resource is None:
            raise InvalidTemplate(f"The resource '{resource_id}' is not defined in the template, and does not exist.")
        return resource.outputs

    def add(self, asked: Asked) -> None:
        """Checks a resource of the template, and adds it to the copy of the cloud against which the next resources are
        checked. The resource is added even if the check found an error.
        """
        mapping = by_arm_type().get(asked.type.lower())
        if mapping is None:
            message = f"The resource type '{asked.type}' could not be found."
            self.verdict.errors.append({"code": "InvalidResourceType", "message": message, "target": asked.id})
            self.broken.add(ids.key(asked.id))
            return
        self._authorize(asked)
        body = {**asked.body, "name": ids.name(asked.id)}
        path = path_of(mapping.id_format, asked.id)
        inputs = inputs_of(mapping, body, path, asked.api_version)
        state = self.state()
        old = state.get(asked.id)
        put = Put(mapping.kind, old.id if old else asked.id, inputs, old, state)
        put.__dict__["body"] = body  # as it was sent: what no input leads to is in it
        self.verdict.errors.extend(self._refused(asked, put))
        before = None if old is None else {**to_body(mapping, old.inputs), "id": old.id}
        self.verdict.changes.append(_change(asked, body, before))
        try:
            puts.record(put, self.store, self.judge.cloud.clock)
        except (KeyError, TypeError, ValueError, AttributeError):
            self.broken.add(ids.key(asked.id))

    def _refused(self, asked: Asked, put: Put) -> Iterator[Json]:
        for each in admission(put):
            more = {"additionalInfo": list(each.information)} if each.information else {}
            target = _target(asked, each.target) if each.target == "location" else each.target or asked.id
            yield {"code": each.code, "message": each.message, "target": target, **more}
        try:
            broken = list(schema.refusals(put.mapping, put.body, put.api_version))
        except Refused as unknown:
            yield {"code": "NoRegisteredProviderFound", "message": str(unknown), "target": asked.id}
            return
        for each in broken or refusals(put):
            yield {"code": each.code, "message": f"{each.message}", "target": _target(asked, each.target)}

    def _authorize(self, asked: Asked) -> None:
        action = rights.action(asked.id, "write")
        assigned = str(get(asked.body, "properties.roleDefinitionId") or "").rpartition("/")[2].lower()
        try:
            rights.authorize(self.state(), self.judge.caller, action, asked.id, assigned)
        except ArmError:
            self.verdict.unauthorized.append(
                f"Authorization failed for template resource '{asked.name}' of type '{asked.type}'. The client"
                f" '{self.judge.caller}' with object id '{self.judge.caller}' does not have permission to perform"
                f" action '{action}' at scope '{asked.id}'."
            )


def _target(asked: Asked, path: str) -> str:
    """Target of an error in ARM's answer: the resource id, followed by `path` unless it is empty."""
    return f"{asked.id}/{path}" if path else asked.id


def _change(asked: Asked, body: Json, before: Json | None) -> Json:
    if before is None:
        return {"resourceId": asked.id, "changeType": "Create", "after": {**body, "id": asked.id}}
    after = {**body, "id": before["id"]}
    delta = [
        {"path": key, "propertyChangeType": "Modify", "before": before.get(key), "after": after.get(key)}
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]
    kind = "Modify" if delta else "NoChange"
    return {"resourceId": before["id"], "changeType": kind, "before": before, "after": after, "delta": delta}


def path_of(id_format: str, resource_id: str) -> dict[str, str]:
    """Path parameters in a resource id.

    For an assignment on a resource, the scope is the part before the assignment's own provider.
    """
    parts, given = id_format.strip("/").split("/"), resource_id.strip("/").split("/")
    found: dict[str, str] = {}
    for part, value in zip(reversed(parts), reversed(given), strict=False):
        if part.startswith("{"):
            found[part.strip("{}")] = value
    if parts[0] in ("{scope}", "{resourceUri}"):
        found[parts[0].strip("{}")] = "/" + "/".join(given[: len(given) - len(parts) + 1])
    found.pop("subscriptionId", None)
    return found
