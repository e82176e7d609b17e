"""State of the model in the form of the recordings, `path → value`, as `gpu_recordings` expands them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.cluster.names import NVIDIA
from simulator.cluster.objects import annotations_of, at, labels
from simulator.gpu.names import LAST_APPLIED
from simulator.gpu.state import State
from tests.support.gpu_recordings import OWN_NAME, Facts, flat, short


def _env(container: Mapping[str, Any]) -> dict[str, str]:
    return {
        entry["name"]: f"<fieldRef:{entry['valueFrom']['fieldRef']['fieldPath']}>"
        if "valueFrom" in entry
        else entry["value"]
        for entry in container.get("env", ())
    }


def _probe(given: Mapping[str, Any]) -> dict[str, Any]:
    result = {key: value for key, value in given.items() if key not in ("httpGet", "tcpSocket", "exec")}
    if "httpGet" in given:
        result["httpGet"] = f"{given['httpGet']['path']}:{given['httpGet']['port']}"
    if "exec" in given:
        text = " ".join(given["exec"]["command"])
        result["exec"] = text if len(text) <= 60 else f"{text[:60]}…({len(text)} chars)"
    return result


def _container(given: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {key: given[key] for key in ("image", "command", "args") if key in given}
    if given.get("env"):
        result["env"] = _env(given)
    if "ports" in given:
        result["ports"] = {port["name"]: port["containerPort"] for port in given["ports"]}
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        if key in given:
            result[key] = _probe(given[key])
    if at(given, "securityContext.privileged"):
        result["privileged"] = True
    if "lifecycle" in given:
        result["lifecycle"] = sorted(given["lifecycle"])
    return result


def _volume(given: Mapping[str, Any]) -> str:
    if "hostPath" in given:
        kind = f" ({given['hostPath']['type']})" if "type" in given["hostPath"] else ""
        return f"hostPath:{given['hostPath']['path']}{kind}"
    if "configMap" in given:
        items = "".join(f" {item['key']}->{item['path']}" for item in given["configMap"].get("items", ()))
        return f"configMap:{given['configMap']['name']}{items}"
    return "emptyDir"


def _own(given: Mapping[str, str], name: str) -> dict[str, str]:
    return {key: OWN_NAME if value == name and short(name) != name else value for key, value in given.items()}


def described(item: Mapping[str, Any]) -> dict[str, Any]:
    """Description of a DaemonSet in the form of the recordings."""
    name, spec = item["metadata"]["name"], item["spec"]
    template, pod = spec["template"], spec["template"]["spec"]
    most = at(spec, "updateStrategy.rollingUpdate.maxUnavailable")
    result: dict[str, Any] = {
        "labels": _own(labels(item), name),
        "annotation_keys": sorted(annotations_of(item)),
        "owner": [f"{reference['kind']}/{reference['name']}" for reference in item["metadata"]["ownerReferences"]],
        "selector": _own(spec["selector"]["matchLabels"], name),
        "updateStrategy": spec["updateStrategy"]["type"] + ("" if most is None else f" maxUnavailable={most}"),
        "podLabels": _own(template["metadata"]["labels"], name),
        "podAnnotations": template["metadata"].get("annotations", {}),
        "nodeSelector": pod["nodeSelector"],
        "affinity": pod.get("affinity", {}),
        "tolerations": [" ".join(f"{k}={v}" for k, v in sorted(each.items())) for each in pod["tolerations"]],
        "serviceAccount": pod["serviceAccountName"],
    }
    fields = (
        "runtimeClassName",
        "priorityClassName",
        "hostPID",
        "hostIPC",
        "hostNetwork",
        "dnsPolicy",
        "shareProcessNamespace",
    )
    result |= {key: pod[key] for key in fields if key in pod}
    for key, order, group in (
        ("init", "init_order", "initContainers"),
        ("containers", "container_order", "containers"),
    ):
        if pod.get(group):
            result[order] = [each["name"] for each in pod[group]]
            result[key] = {each["name"]: _container(each) for each in pod[group]}
    result["images"] = sorted({each["image"] for each in pod["containers"]})
    result["volumes"] = {each["name"]: _volume(each) for each in pod.get("volumes", ())}
    return result


def _status(item: Mapping[str, Any]) -> dict[str, Any]:
    given = item.get("status", {})
    conditions = [
        f"{each['type']}={each['status']} {each['reason']}" + (f": {each['message']}" if each["message"] else "")
        for each in given.get("conditions", ())
    ]
    return {**{key: given[key] for key in ("state", "namespace") if key in given}, "conditions": conditions}


def facts(state: State, scheduled: Mapping[str, Sequence[Any]]) -> Facts:
    """State of the model in the form of the recordings. `scheduled` comes from `Cluster.scheduled`."""
    result: Facts = {}
    for name, node in state.nodes.items():
        result[f"Node/{name}/exists"] = True
        for kind, given in (("label", labels(node)), ("annotation", annotations_of(node))):
            result |= {f"Node/{name}/{kind}/{key}": value for key, value in given.items() if key.startswith(NVIDIA)}
        if at(node, "spec.unschedulable"):
            result[f"Node/{name}/unschedulable"] = True
    for name, item in state.daemonsets.items():
        assert LAST_APPLIED in annotations_of(item)
        result |= {p: v for p, v in flat(described(item), f"DaemonSet/{short(name)}") if v != {}}
        if name in scheduled:
            result[f"Scheduled/{short(name)}"] = list(scheduled[name])
    for kind, items in (
        ("ClusterPolicy", {at(state.policy, "metadata.name"): state.policy}),
        ("NVIDIADriver", state.drivers),
    ):
        for name, item in items.items():
            result |= dict(flat(_status(item or {}), f"{kind}/{name}"))
    for (kind, name), item in state.others.items():
        if "ownerReferences" in item["metadata"]:
            result |= _other(kind, name, item)
    result |= {f"Namespace/{key}": value for key, value in state.namespace_labels.items()}
    return result


def _other(kind: str, name: str, item: Mapping[str, Any]) -> Facts:
    """Facts about an object of another kind that the operator made."""
    path = f"{kind}/{name}"
    if kind == "RuntimeClass":
        return {f"{path}/handler": item["handler"], f"{path}/owner": item["metadata"]["ownerReferences"][0]["kind"]}
    if kind == "ConfigMap":
        return {path: sorted(item["data"])}
    if kind == "Service":
        spec = item["spec"]
        ports = [[port["name"], port["port"], port["targetPort"]] for port in spec["ports"]]
        return {path: [ports, spec["selector"], spec["internalTrafficPolicy"], annotations_of(item)]}
    return {path: name}
