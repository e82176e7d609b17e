"""The azure-native provider as the Pulumi engine sees it, with the simulated cloud behind it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from simulator.azure import bodies, filled, ids, reading, rights
from simulator.azure.bodies import Json, get
from simulator.azure.cloud import Cloud
from simulator.azure.data import TypeMapping, by_token
from simulator.azure.data_outputs import access_keys
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.naming import autoname, looks_autonamed
from simulator.azure.offers import location
from simulator.azure.roles import role_guid
from simulator.azure.schema import client_failures
from simulator.azure.state import FAILED, Resource
from simulator.wire import (
    UNKNOWN,
    Diff,
    Failure,
    NotReady,
    Provider,
    Refused,
    Request,
    changes,
    has_unknown,
)

REDIS_DATABASE = "Microsoft.Cache/redisEnterprise/databases"
KEEPS_IN_PREVIEW = ("name", "location")
"""Outputs whose values azure-native knows in the preview of an update; all others are unknown."""


@dataclass(frozen=True)
class Caller:
    """Principal that is logged in to Azure: the Entra object, and the application that it logs in with."""

    object_id: str
    client_id: str = ""


class AzureNative(Provider):
    """One configured instance of the azure-native provider."""

    package = "azure-native"
    version = "3.29.0"

    def __init__(self, cloud: Cloud, caller: Caller | None = None) -> None:
        """`caller`: the principal that is logged in; the deployer by default."""
        self._cloud = cloud
        who = cloud.directory
        self._caller = caller or Caller(who.deployer, who.deployer_client)
        self._location: str | None = None
        self._subscription = who.subscription

    @classmethod
    def serving(cls, cloud: Cloud, caller: Caller | None = None) -> Factory:
        """Factory that `ProviderHost` uses to serve this provider, with `cloud` as the simulated Azure."""
        return Factory(cloud, caller)

    def configure(self, config: dict[str, Any]) -> None:
        self._location = config.get("location")
        self._subscription = config.get("subscriptionId") or self._cloud.directory.subscription

    def check(
        self, request: Request, old_inputs: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Failure]]:
        mapping = _known(request)
        checked = {name: value for name, value in inputs.items() if value is not None}
        if mapping.name_param not in checked:
            checked[mapping.name_param] = old_inputs.get(mapping.name_param) or autoname(mapping, request)
        if "location" in mapping.inputs and "location" not in checked:
            place = self._default_location(mapping, old_inputs, checked)
            checked |= {"location": place} if place is not None else {}
        checked[bodies.API_VERSION_INPUT] = mapping.api_version
        return checked, client_failures(mapping, checked)

    def _default_location(self, mapping: TypeMapping, old: Json, inputs: Json) -> Any:
        """Default location of a resource: its previous location; for a new resource, the provider's configured
        location; without a configured location, the location of its resource group.
        """
        if old.get("location"):
            return old["location"]
        if self._location or "resourceGroupName" not in mapping.path_params or mapping.kind == "ResourceGroup":
            return self._location
        group = inputs.get("resourceGroupName")
        resource = self._cloud.get(f"/subscriptions/{self._subscription}/resourceGroups/{group}")
        # A group that does not exist yet has an unknown location.
        return resource.outputs["location"] if resource else UNKNOWN

    def diff(
        self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> Diff:
        mapping = _known(request)
        found = changes(_normal(old_inputs), _normal(inputs))
        replaces = (*mapping.path_params, *(path.replace("[]", "[*]") for path in mapping.replace_on))
        keeps_name = all(old_inputs.get(name) == inputs.get(name) for name in mapping.path_params)
        named = not looks_autonamed(mapping, request.name, inputs.get(mapping.name_param))
        return Diff(found, replaces, delete_before_replace=keeps_name and named)

    def create(self, request: Request, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        mapping = _known(request)
        if request.preview:
            return "", bodies.preview_outputs(mapping, inputs)
        self._authorize(self._id(mapping.kind, inputs), "write", inputs)
        made = self._cloud.put(mapping.kind, _sendable(inputs), creating=True, subscription=self._subscription)
        return made.id, self._ready(made, inputs)

    def read(
        self, request: Request, outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        mapping = _known(request)
        self._authorize(request.id, "read")
        found = self._cloud.get(request.id)
        if found is None:
            return "", {}, {}
        found = replace(found, outputs=filled.outputs_of_get(found))
        return found.id, found.outputs, reading.inputs_after(mapping, found, outputs, inputs)

    def update(
        self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> dict[str, Any]:
        mapping = _known(request)
        if request.preview:
            kept = {name: old_outputs[name] for name in KEEPS_IN_PREVIEW if name in old_outputs}
            return {**bodies.preview_outputs(mapping, inputs), **kept}
        self._authorize(self._id(mapping.kind, inputs), "write", inputs)
        return self._ready(self._cloud.put(mapping.kind, _sendable(inputs), subscription=self._subscription), inputs)

    def _ready(self, put: Resource, inputs: Json) -> Json:
        """Outputs of a resource after a PUT. Raises NotReady if Azure accepted the PUT, but the operation failed.

        A resource whose operation failed exists, so azure-native records it in the state together with the service's
        message.
        """
        if put.state != FAILED:
            return put.outputs
        why = self._cloud.failure(put)
        # The poll that reports a failed operation is itself answered with 200, so there is no status to report.
        reason = f'Code="{why.code}" Message="{why.message}"'
        raise NotReady(put.id, put.outputs, [reason], inputs)

    def delete(self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any]) -> None:
        _known(request)
        self._authorize(request.id, "delete", old_inputs)
        self._cloud.delete(request.id)

    def _authorize(self, resource_id: str | None, verb: rights.Verb, inputs: Json | None = None) -> None:
        if resource_id is not None:
            assigned = role_guid((inputs or {}).get("roleDefinitionId"))
            self._cloud.authorize(self._caller.object_id, rights.action(resource_id, verb), resource_id, assigned)

    def invoke(self, token: str, args: dict[str, Any]) -> dict[str, Any]:
        match token.rsplit(":", 1)[-1]:
            case "getClientConfig":
                who = self._cloud.directory
                return {
                    "clientId": self._caller.client_id,
                    "objectId": self._caller.object_id,
                    "subscriptionId": self._subscription,
                    "tenantId": who.tenant,
                }
            case "getClientToken":
                return {"token": self._caller.object_id}
            case "listDatabaseKeys":
                database = self._id("RedisEnterpriseDatabase", args)
                self._cloud.authorize(self._caller.object_id, f"{REDIS_DATABASE}/listKeys/action", database or "")
                return access_keys(self._cloud.get(database) if database else None)
            case "getManagedCluster":
                cluster = self._cluster(args)
                self._authorize(cluster.id, "read")
                return cluster.outputs
            case "listManagedClusterUserCredentials":
                cluster = self._cluster(args)
                self._cloud.authorize(self._caller.object_id, rights.USER_CREDENTIAL, cluster.id)
                return _credentials("clusterUser", self._cloud.host.user_kubeconfig(cluster.id))
            case "listManagedClusterAdminCredentials":
                cluster = self._cluster(args)
                if get(cluster.body, "properties.disableLocalAccounts"):
                    message = "Getting static credential is not allowed because this cluster is set to disable local"
                    raise ArmError(Refusal("mc-local-accounts", 400, "BadRequest", f"{message} accounts.", flat=True))
                raise Refused("this simulator has no local accounts; set disableLocalAccounts and use Entra")
            case _:
                return super().invoke(token, args)

    def _id(self, kind: str, inputs: Mapping[str, Any]) -> str | None:
        return ids.of_inputs(kind, inputs, self._subscription)

    def _cluster(self, args: Mapping[str, Any]) -> Resource:
        wanted = self._id("ManagedCluster", args)
        found = self._cloud.get(wanted) if wanted else None
        if found is None:
            message = f"The Resource '{wanted}' was not found."
            raise ArmError(Refusal("aks-parent", 404, "ResourceNotFound", message))
        return found


@dataclass(frozen=True)
class Factory:
    """Factory of azure-native providers over one cloud, one for each instance that the engine configures."""

    cloud: Cloud
    caller: Caller | None = None
    package: str = AzureNative.package
    version: str = AzureNative.version

    def __call__(self) -> AzureNative:
        return AzureNative(self.cloud, self.caller)


def _known(request: Request) -> TypeMapping:
    found = by_token().get(request.type)
    if found is None:
        raise Refused(f"this simulator has no model of {request.type}; it has {', '.join(sorted(by_token()))}")
    return found


def _credentials(name: str, kubeconfig: str) -> Json:
    return {"kubeconfigs": [{"name": name, "value": base64.b64encode(kubeconfig.encode()).decode()}]}


def _sendable(inputs: Mapping[str, Any]) -> Json:
    return {name: value for name, value in inputs.items() if value is not None and not has_unknown(value)}


def _normal(inputs: Mapping[str, Any]) -> Json:
    """Normal form of inputs for comparisons: inputs that azure-native treats as equal have the same normal form."""
    result = {name: value for name, value in inputs.items() if value is not None}
    if isinstance(result.get("location"), str):
        result["location"] = location(result["location"])
    return result
