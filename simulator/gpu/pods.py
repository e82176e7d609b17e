"""Conversion of an operand's description (data/operands) into a DaemonSet of the Kubernetes API."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simulator.cluster.objects import Json, digest

EnvValue = str | Mapping[str, str]


@dataclass
class Draft:
    """An operand's DaemonSet while the ClusterPolicy's settings are being applied to it; `build` makes the Kubernetes
    object.
    """

    name: str
    namespace: str
    owner: tuple[str, str, str]
    """Kind, name and uid of the object that owns the DaemonSet."""
    selector: dict[str, str]
    """Labels by which the DaemonSet selects its Pods; they cannot be changed after the DaemonSet's creation."""
    node_selector: dict[str, str]
    service_account: str
    init: dict[str, Json]
    containers: dict[str, Json]
    volumes: dict[str, Json]
    labels: dict[str, str] = field(default_factory=dict[str, str])
    pod_labels: dict[str, str] = field(default_factory=dict[str, str])
    pod_annotations: dict[str, str] = field(default_factory=dict[str, str])
    tolerations: list[Json] = field(default_factory=list[Json])
    update_strategy: Json = field(default_factory=dict[str, Any])
    pod: Json = field(default_factory=dict[str, Any])
    """Fields of the Pod's spec that this class has no attribute for."""
    scc: bool = False

    @property
    def main(self) -> str:
        """Name of the operand's main container, which is the first container. All other containers are sidecars."""
        return next(iter(self.containers))

    def env(self, container: str) -> dict[str, Any]:
        """Environment variables of a container or init container, by name. Changes of the returned dictionary change
        the draft.
        """
        return (self.containers if container in self.containers else self.init)[container].setdefault("env", {})

    def pull_secrets(self, names: Sequence[str] | None) -> None:
        """Adds secrets for pulling images, each once."""
        known: list[Json] = self.pod.get("imagePullSecrets", [])
        added = [{"name": str(each)} for each in dict.fromkeys(names or ()) if {"name": str(each)} not in known]
        if added:
            self.pod["imagePullSecrets"] = [*known, *added]


def draft(
    description: Mapping[str, Any],
    name: str,
    namespace: str,
    owner: tuple[str, str, str],
    *,
    image: Mapping[str, str],
) -> Draft:
    """A draft with the operand's own defaults.

    `image`: images of the operand's containers, by component.
    """

    def containers(group: Mapping[str, Any]) -> dict[str, Json]:
        return {key: {**copy.deepcopy(value), "image": image[value["image"]]} for key, value in group.items()}

    part_of = {"app.kubernetes.io/part-of": description["partOf"]} if "partOf" in description else {}
    return Draft(
        name=name,
        namespace=namespace,
        owner=owner,
        selector={"app": name, **part_of},
        node_selector=dict(description.get("nodeSelector", {})),
        service_account=str(description.get("serviceAccount", name)),
        init=containers(description["init"]),
        containers=containers(description["containers"]),
        volumes=copy.deepcopy(dict(description["volumes"])),
        pod={key: description[key] for key in _OF_POD if description.get(key) is not None},
        scc=bool(description["scc"]),
    )


def env_list(values: Mapping[str, EnvValue]) -> list[Json]:
    """Environment variables in the API's form, from `{NAME: value}` or `{NAME: {fieldRef: path}}`."""
    return [
        {"name": key, "value": value}
        if isinstance(value, str)
        else {"name": key, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": value["fieldRef"]}}}
        for key, value in values.items()
    ]


_OF_POD = ("hostPID", "hostIPC", "automountServiceAccountToken")
_AS_GIVEN = (
    "imagePullPolicy",
    "command",
    "args",
    "envFrom",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
    "resources",
)


def _container(name: str, given: Mapping[str, Any]) -> Json:
    result: Json = {"name": name, "image": given["image"], "imagePullPolicy": "IfNotPresent"}
    for key in _AS_GIVEN:
        if key in given:
            result[key] = given[key]
    if given.get("env"):
        result["env"] = env_list(given["env"])
    if "ports" in given:
        result["ports"] = [
            {"name": key, "containerPort": port, "protocol": "TCP"} for key, port in given["ports"].items()
        ]
    if given.get("privileged"):
        result["securityContext"] = {"privileged": True}
    return result


def _volume(name: str, given: Mapping[str, Any]) -> Json:
    if "hostPath" in given:
        source: Json = {"path": given["hostPath"], **({"type": given["type"]} if "type" in given else {})}
        return {"name": name, "hostPath": source}
    items = [{"key": key, "path": path} for key, path in given.get("items", {}).items()]
    chosen: Json = {"items": items} if items else {}
    if "mode" in given:
        chosen["defaultMode"] = given["mode"]
    if "configMap" in given:
        return {"name": name, "configMap": {"name": given["configMap"], **chosen}}
    if "secret" in given:
        return {"name": name, "secret": {"secretName": given["secret"], **chosen}}
    return {"name": name, "emptyDir": {}}


def owner_reference(owner: tuple[str, str, str]) -> Json:
    kind, name, uid = owner
    version = "nvidia.com/v1" if kind == "ClusterPolicy" else "nvidia.com/v1alpha1"
    return {
        "apiVersion": version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def build(given: Draft, last_applied: str) -> Json:
    """The DaemonSet of a draft.

    `last_applied`: hash that the operator stores in an annotation of the DaemonSet, to detect changes later.
    """

    def containers(group: Mapping[str, Json]) -> Sequence[Json]:
        return [_container(key, value) for key, value in group.items()]

    spec: Json = {
        "selector": {"matchLabels": given.selector},
        "updateStrategy": given.update_strategy,
        "template": {
            "metadata": {
                "labels": {**given.pod_labels, **given.selector},
                **({"annotations": given.pod_annotations} if given.pod_annotations else {}),
            },
            "spec": {
                **given.pod,
                "serviceAccountName": given.service_account,
                "nodeSelector": given.node_selector,
                "tolerations": given.tolerations,
                "containers": containers(given.containers),
                **({"initContainers": containers(given.init)} if given.init else {}),
                **({"volumes": [_volume(k, v) for k, v in given.volumes.items()]} if given.volumes else {}),
            },
        },
    }
    labels = {**given.labels, **given.selector}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": given.name,
            "namespace": given.namespace,
            "labels": labels,
            "annotations": {
                last_applied: digest([labels, spec]),
                **({"openshift.io/scc": "privileged"} if given.scc else {}),
            },
            "ownerReferences": [owner_reference(given.owner)],
        },
        "spec": spec,
    }
