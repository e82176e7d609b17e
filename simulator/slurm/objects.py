"""Objects that the operator creates for its resources, except the Pods of nodes. Pure functions over plain objects."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from simulator.cluster.objects import Json, at, name
from simulator.slurm import names

APP, INSTANCE, COMPONENT = (f"app.kubernetes.io/{key}" for key in ("name", "instance", "component"))
CLUSTER_LABEL = "slinky.slurm.net/cluster"
PORTS = {names.CONTROLLER: 6817, names.NODE: 6818, names.REST: 6820, names.LOGIN: 22}
STATE_VOLUME = "statesave"


def cluster_of(item: Mapping[str, Any]) -> str:
    """Name of the Controller that the resource refers to in `spec.controllerRef`."""
    return str(at(item, "spec.controllerRef.name", ""))


def controller_objects(controller: Json, nodesets: Iterable[Json]) -> list[Json]:
    """Objects for a Controller: slurmctld, its Service, and slurm.conf."""
    key, persistence = f"{name(controller)}-controller", at(controller, "spec.persistence", {})
    marks = _marks(names.CONTROLLER, name(controller), "controller")
    spec: Json = {
        "replicas": 1,
        "serviceName": key,
        "selector": {"matchLabels": _selector(marks)},
        "template": _template(controller, names.CONTROLLER, marks, {"logfile": at(controller, "spec.logfile", {})}),
    }
    if persistence.get("enabled", True):
        claim = {field: value for field, value in persistence.items() if field in ("accessModes", "resources")}
        if persistence.get("storageClassName"):
            claim["storageClassName"] = persistence["storageClassName"]
        spec["volumeClaimTemplates"] = [{"metadata": {"name": STATE_VOLUME}, "spec": claim}]
    lines = [f"ClusterName={cluster_name(controller)}"]
    lines += [f"NodeSet={slurm_name(each)} Feature={slurm_name(each)}" for each in nodesets]
    lines += str(at(controller, "spec.extraConf", "")).splitlines()
    config = {"data": {"slurm.conf": "\n".join(lines) + "\n"}}
    return [
        {**_object(controller, "v1", "ConfigMap", f"{name(controller)}-config", marks), **config},
        _service(controller, key, marks, names.CONTROLLER),
        {**_object(controller, "apps/v1", "StatefulSet", key, marks), "spec": spec},
    ]


def cluster_name(controller: Json) -> str:
    """Name of the cluster in Slurm (api/v1beta1/controller_keys.go)."""
    return str(at(controller, "spec.clusterName") or f"{at(controller, 'metadata.namespace')}_{name(controller)}")


def slurm_name(nodeset: Json) -> str:
    """Name of a NodeSet in Slurm, with which the names of its hosts begin: the hostname in the NodeSet's Pod template,
    else the NodeSet's own name.
    """
    return str(at(nodeset, "spec.template.spec.hostname", "") or name(nodeset)).rstrip("-")


def rest_objects(rest: Json) -> list[Json]:
    """Objects for a RestApi: slurmrestd, through which the operator talks to Slurm, and its Service."""
    key, marks = f"{name(rest)}-restapi", _marks(names.REST, name(rest), "restapi")
    return [_service(rest, key, marks, names.REST), _deployment(rest, key, marks, names.REST, {})]


def login_objects(login: Json) -> list[Json]:
    """Objects for a LoginSet: the Deployment whose Pod users log in to, and its Service."""
    key, marks = name(login), _marks(names.LOGIN, name(login), "login")
    deployment = _deployment(login, key, marks, names.LOGIN, {"initconf": at(login, "spec.initconf", {})})
    return [_service(login, key, marks, names.LOGIN), deployment]


def worker_objects(controller: Json, nodesets: Iterable[Json]) -> list[Json]:
    """Objects that all nodes of a cluster share: a Service for their names, and the disruption budget that protects
    busy nodes.
    """
    cluster, owners = name(controller), [_reference(each) for each in nodesets]
    protected = {names.POD_PROTECT: "true", CLUSTER_LABEL: cluster}
    budget = _object(controller, "policy/v1", "PodDisruptionBudget", f"slurm-workers-pdb-{cluster}", {})
    budget["spec"] = {"maxUnavailable": 0, "selector": {"matchLabels": protected}}
    service = _object(controller, "v1", "Service", f"slurm-workers-{cluster}", {})
    port = {"name": names.NODE, "port": PORTS[names.NODE], "protocol": "TCP"}
    service["spec"] = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {APP: names.NODE, CLUSTER_LABEL: cluster},
        "ports": [port],
    }
    for each in (budget, service):
        each["metadata"]["ownerReferences"] = owners
    return [budget, service]


def container(key: str, given: Mapping[str, Any], **own: Any) -> Json:
    """Container with the name `key` and the operator's fields `own`. Fields in `given` override them."""
    return {"name": key, **own, **copy.deepcopy(dict(given))}


def _marks(app: str, instance: str, component: str) -> dict[str, str]:
    return {APP: app, INSTANCE: instance, COMPONENT: component}


def _selector(marks: Mapping[str, str]) -> dict[str, str]:
    return {key: marks[key] for key in (APP, INSTANCE)}


def _template(item: Json, main: str, marks: Mapping[str, str], beside: Mapping[str, Json]) -> Json:
    ports = [{"name": main, "containerPort": PORTS[main], "protocol": "TCP"}]
    first = [
        container(key, given, **({"restartPolicy": "Always"} if key == "logfile" else {}))
        for key, given in beside.items()
        if given
    ]
    spec: Json = {
        "automountServiceAccountToken": False,
        **copy.deepcopy(at(item, "spec.template.spec", {})),
        "containers": [container(main, at(item, f"spec.{main}", {}), ports=ports)],
        **({"initContainers": first} if first else {}),
    }
    return {"metadata": {"labels": dict(marks)}, "spec": spec}


def _deployment(item: Json, key: str, marks: Mapping[str, str], main: str, beside: Mapping[str, Json]) -> Json:
    spec = {
        "replicas": at(item, "spec.replicas", 1),
        "selector": {"matchLabels": _selector(marks)},
        "template": _template(item, main, marks, beside),
    }
    return {**_object(item, "apps/v1", "Deployment", key, marks), "spec": spec}


def _service(item: Json, key: str, marks: Mapping[str, str], main: str) -> Json:
    port = {"name": main, "port": PORTS[main], "protocol": "TCP", "targetPort": main}
    spec = {"selector": _selector(marks), "ports": [port], **at(item, "spec.service.spec", {})}
    return {**_object(item, "v1", "Service", key, marks), "spec": spec}


def _object(item: Json, version: str, kind: str, key: str, marks: Mapping[str, str]) -> Json:
    reference = {**_reference(item), "controller": True}
    metadata = {"name": key, "namespace": at(item, "metadata.namespace"), "labels": dict(marks)}
    return {"apiVersion": version, "kind": kind, "metadata": {**metadata, "ownerReferences": [reference]}}


def _reference(item: Json) -> Json:
    own = {"apiVersion": names.API_VERSION, "kind": item["kind"], "name": name(item)}
    return {**own, "uid": at(item, "metadata.uid", ""), "blockOwnerDeletion": True}
