"""Objects that operands need besides their DaemonSet: service accounts, roles, ConfigMaps, Services, RuntimeClasses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.cluster.objects import Json, at
from simulator.gpu import pods
from simulator.gpu.operand_settings import GPU_CLIENTS, MIG_LAYOUTS, cdi, nri, runtime_class
from simulator.gpu.release import Release, operand

CLUSTER_SCOPED = ("ClusterRole", "ClusterRoleBinding", "RuntimeClass")
API = {
    "ServiceAccount": "v1",
    "ConfigMap": "v1",
    "Service": "v1",
    "Role": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding": "rbac.authorization.k8s.io/v1",
    "RuntimeClass": "node.k8s.io/v1",
}
RUNTIME_CLASSES_OF_CDI = ("nvidia-legacy", "nvidia-cdi")


def _new(kind: str, name: str, namespace: str, owner: tuple[str, str, str], **rest: Any) -> Json:
    where = {} if kind in CLUSTER_SCOPED else {"namespace": namespace}
    metadata = {"name": name, **where, "ownerReferences": [pods.owner_reference(owner)]}
    return {"apiVersion": API[kind], "kind": kind, "metadata": metadata, **rest}


def _rights(name: str, kinds: tuple[str, ...], namespace: str, owner: tuple[str, str, str]) -> list[Json]:
    """A service account and its roles. The roles have no rules: simulated Pods send no requests."""
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    result = [_new("ServiceAccount", name, namespace, owner)]
    for kind in kinds:
        role = kind[0].upper() + kind[1:]
        ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": name}
        result.append(_new(role, name, namespace, owner, rules=[]))
        result.append(_new(f"{role}Binding", name, namespace, owner, roleRef=ref, subjects=[subject]))
    return result


def _config_maps(description: Mapping[str, Any], spec: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """ConfigMaps that the operator creates for an operand, with the file names of each ConfigMap. If the ClusterPolicy
    names its own MIG configuration, the default configuration is left out.
    """
    given: dict[str, list[str]] = dict(description.get("configMaps", {}))
    if description["component"] == "migManager":
        for name, setting in (
            (MIG_LAYOUTS, "config"),
            (GPU_CLIENTS, "gpuClientsConfig"),
        ):
            if at(spec, f"migManager.{setting}.name", name) != name:
                given.pop(name, None)
    return given


def companions(
    found: Release,
    spec: Mapping[str, Any],
    name: str,
    namespace: str,
    owner: tuple[str, str, str],
    *,
    account: str | None = None,
) -> list[Json]:
    """Objects that the operand `name` needs besides its DaemonSet, in the order of their creation."""
    description = operand(found.version, name)
    own = account or str(description.get("account") or description["serviceAccount"])
    result = _rights(own, tuple(description["rbac"]), namespace, owner)
    for config, keys in _config_maps(description, spec).items():
        result.append(_new("ConfigMap", config, namespace, owner, data=dict.fromkeys(keys, "")))
    if "service" in description:
        port = description["service"]["port"]
        local = description["service"].get("local", False)
        policy = "Local" if local else at(spec, f"{description['component']}.service.internalTrafficPolicy", "Cluster")
        app = str(name)
        service = _new(
            "Service",
            app,
            namespace,
            owner,
            spec={
                "selector": {"app": app},
                "internalTrafficPolicy": policy,
                "ports": [{**port, "targetPort": port["port"], "protocol": "TCP"}],
            },
        )
        if not local:
            service["metadata"]["annotations"] = {"prometheus.io/scrape": "true"}
        result.append(service)
    return result


def metrics_service(namespace: str, owner: tuple[str, str, str]) -> Json:
    """The Service for the operator's own metrics."""
    port = {"name": "gpu-operator-metrics", "port": 8080, "targetPort": 8080, "protocol": "TCP"}
    spec = {"selector": {"app": "gpu-operator"}, "internalTrafficPolicy": "Cluster", "ports": [port]}
    service = _new("Service", "gpu-operator", namespace, owner, spec=spec)
    service["metadata"]["annotations"] = {"prometheus.io/scrape": "true"}
    return service


def runtime_classes(spec: Mapping[str, Any], owner: tuple[str, str, str]) -> tuple[list[Json], list[str]]:
    """RuntimeClasses to create, and names of RuntimeClasses to remove.

    The names come from the present settings. If a user renames the runtime class, the RuntimeClass with the old name
    therefore remains.
    """
    own = runtime_class(spec)
    if nri(spec):
        return [], [own, *RUNTIME_CLASSES_OF_CDI]
    wanted = [own, *(RUNTIME_CLASSES_OF_CDI if cdi(spec) else ())]
    unwanted: list[str] = [] if cdi(spec) else [*RUNTIME_CLASSES_OF_CDI]
    return [_new("RuntimeClass", name, "", owner, handler=name) for name in wanted], unwanted
