"""Repair of a stack's state after an interrupted run: each creation that the run did not finish becomes a resource of
the state. A refresh then finds out which of these resources exist.

The first refresh of a resource records every value that Azure shows as an input, as `pulumi import` does. The next run
would then remove the values that the program does not set, and replace a node pool for some of them. Therefore the
original inputs of each creation are restored after the refresh.

`pulumi refresh --import-pending-creates` is meant for this case but does not work in Pulumi 3.259.0: it marks the
creations, and nothing reads the marks (seen with the binary). `pulumi stack import` drops all unfinished operations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.engine_values import SECRET, SIGNATURE, is_secret
from simulator.azure import ids
from simulator.kubernetes.objects import RELEASE_TYPE, name_of, object_id

INPUTS_OUTPUT = "__inputs"
"""Output in which Pulumi's plugins for Azure and Kubernetes keep a resource's last inputs. The plugins compare new
inputs with them.
"""
_SUBSCRIPTION = re.compile(r"/subscriptions/([^/]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Adoption:
    """Exported state in which unfinished creations have become resources, and the URNs of these creations."""

    deployment: Mapping[str, Any]
    assumed: tuple[str, ...]
    """URNs of creations that are assumed to have completed. The properties of these resources are not read yet."""
    forgotten: tuple[str, ...]
    """URNs of creations that were dropped from the state, because the id of the created resource is not known."""


def assume_created(deployment: Mapping[str, Any], except_releases: Collection[str] = ()) -> Adoption:
    """The deployment (of `pulumi stack export`) with each unfinished creation turned into a resource.

    Args:
        except_releases: `namespace/name` of the Helm releases to forget, because they will be uninstalled.
    """
    resources: list[dict[str, Any]] = list(deployment.get("resources") or [])
    subscription = next(_subscriptions(resources), "")
    assumed: list[str] = []
    forgotten: list[str] = []
    for resource in _creations(deployment):
        urn = str(resource["urn"])
        # A half-done replacement leaves a marker in the state, which its second half removes.
        others = [each for each in resources if not (each["urn"] == urn and each.get("pendingReplacement"))]
        id = _id(resource, subscription)
        is_left_out = id is None or (resource["type"] == RELEASE_TYPE and id in except_releases)
        if is_left_out or any(each["urn"] == urn for each in others):
            forgotten.append(urn)
        else:
            resources = [*others, {**resource, "id": id, "outputs": {}}]
            assumed.append(urn)
    return Adoption({**deployment, "resources": resources, "pending_operations": []}, tuple(assumed), tuple(forgotten))


def with_inputs_of(adoption: Adoption, deployment: Mapping[str, Any]) -> dict[str, Any]:
    """The refreshed state `deployment`, in which each adopted resource has the inputs of its creation again."""
    inputs: dict[str, dict[str, Any]] = {
        each["urn"]: each.get("inputs") or {}
        for each in adoption.deployment["resources"]
        if each["urn"] in adoption.assumed
    }
    resources: list[dict[str, Any]] = list(deployment.get("resources") or [])
    return {**deployment, "resources": [_with_inputs(each, inputs.get(each["urn"])) for each in resources]}


def _with_inputs(resource: dict[str, Any], inputs: dict[str, Any] | None) -> dict[str, Any]:
    if inputs is None:
        return resource
    outputs: dict[str, Any] = dict(resource.get("outputs") or {})
    if INPUTS_OUTPUT in outputs:
        # azure-native keeps its copy as a secret. Secrets within a secret cannot be written in plain text.
        if not is_secret(outputs[INPUTS_OUTPUT]):
            outputs[INPUTS_OUTPUT] = inputs
        elif SIGNATURE not in json.dumps(inputs):
            outputs[INPUTS_OUTPUT] = {SIGNATURE: SECRET, "plaintext": json.dumps(inputs)}
    return {**resource, "inputs": inputs, "outputs": outputs}


def _creations(deployment: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    operations: list[dict[str, Any]] = deployment.get("pending_operations") or []
    for operation in operations:
        if operation["type"] == "creating":
            yield operation["resource"]


def _subscriptions(resources: list[dict[str, Any]]) -> Iterator[str]:
    for each in resources:
        if found := _SUBSCRIPTION.match(str(each.get("id", ""))):
            yield found[1]


def _id(resource: Mapping[str, Any], subscription: str) -> str | None:
    package = str(resource["type"]).partition(":")[0]
    inputs: dict[str, Any] = resource.get("inputs") or {}
    if package == "azure-native":
        return ids.of_inputs(str(resource["type"]), inputs, subscription) if subscription else None
    if resource["type"] == RELEASE_TYPE:
        return f"{inputs['namespace']}/{inputs['name']}" if {"name", "namespace"} <= inputs.keys() else None
    if package == "kubernetes" and name_of(inputs):
        return object_id(inputs)
    return None
