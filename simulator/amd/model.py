"""Objects that AMD's operator creates for a DeviceConfig. Pure functions over plain objects."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai.catalog import Gpu
from physical_ai.catalog.vendors import AMD
from simulator.amd import names as amd
from simulator.cluster.machines import machine_of
from simulator.cluster.names import RUN_BY, SIMULATOR
from simulator.cluster.objects import Json, at, digest, labels, name

MODEL = "amd-stack"
"""Value of the annotation `played-by` on Pods that this simulation of AMD's software runs."""
DRIVER = f"{SIMULATOR}amd-driver"
"""Annotation of nodes; the value is the version of the loaded amdgpu driver."""
BUILT = f"{SIMULATOR}amd-image"
"""Annotation of DeviceConfigs; the value lists the tags of the driver images in the image registry. The images remain
in the registry if the operator is removed.
"""
CONFIG_LABEL, PART_LABEL = "amd.com/device-config", "app.kubernetes.io/name"
BUILD, LOAD = "driver-build", "kmm-worker"
READY_LABEL = "kmm.node.kubernetes.io/{}.{}.ready"
WAIT_FOR_DRIVER = "driver-init"
NOT_LOADED = "amdgpu driver is not loaded"
EXPORTER, EXPORTER_CONFIG = "metrics-exporter", "metrics-config-volume"
BUILD_MINUTES = 10
"""Simulated minutes of a driver build; assumed, since no source measures it."""


def gpu_of(node: Mapping[str, Any]) -> Gpu | None:
    """GPU model and count of the node's machine; None if the machine has no AMD GPUs."""
    machine = machine_of(node)
    return machine.gpu if machine is not None and machine.gpu is not None and machine.gpu.vendor is AMD else None


def features(node: Mapping[str, Any], *, has_rule: bool) -> dict[str, str]:
    """NFD's labels for a node with AMD GPUs: the label of the PCI vendor, and, with `has_rule`, the label that the
    NodeFeatureRule of AMD's chart sets for virtual functions (PCI device 74b5). Empty without AMD GPUs.
    """
    gpu = gpu_of(node)
    if gpu is None:
        return {}
    found = {f"feature.node.kubernetes.io/pci-{AMD.pci}.present": "true"}
    return {**found, amd.VIRTUAL_LABEL: "true"} if has_rule else found


def claims(configs: Iterable[Json], nodes: Iterable[Json]) -> tuple[dict[str, list[Json]], dict[str, str]]:
    """Nodes that each DeviceConfig manages, and the refusals of DeviceConfigs. A DeviceConfig is refused if its
    selector matches a node of an older DeviceConfig.
    """
    found: dict[str, list[Json]] = {}
    refused: dict[str, str] = {}
    taken: dict[str, str] = {}
    every = list(nodes)
    for config in sorted(configs, key=lambda each: (str(at(each, "metadata.creationTimestamp", "")), name(each))):
        selector: Mapping[str, str] = at(config, "spec.selector", {})
        mine = [node for node in every if selector.items() <= labels(node).items()]
        other = next((taken[name(node)] for node in mine if name(node) in taken), None)
        if other is not None:
            refused[name(config)] = f"overlapping selector: nodes are managed by DeviceConfig {other}"
            continue
        found[name(config)] = mine
        taken |= dict.fromkeys(map(name, mine), name(config))
    return found, refused


def tag(config: Json, node: Json) -> str:
    """Tag of the driver's image for a node: system, its release, kernel, version
    (api/v1alpha1/deviceconfig_types.go).
    """
    info: Mapping[str, Any] = at(node, "status.nodeInfo", {})
    system, _, release = str(info.get("osImage", "")).partition(" ")
    kernel, version = info.get("kernelVersion", ""), at(config, "spec.driver.version", "")
    return f"{system.lower()}-{release[:5]}-{kernel}-{version}"


def login_problem(config: Json, secret: Json | None) -> str:
    """Reason why Kernel Module Management can't log in to the image registry; empty if the login succeeds."""
    wanted = at(config, "spec.driver.imageRegistrySecret.name")
    if not wanted:
        return ""
    if secret is None:
        return f"cannot find secret {wanted}"
    try:
        held = json.loads(base64.b64decode(at(secret, "data", {}).get(amd.DOCKER_CONFIG, "")))
    except (ValueError, binascii.Error):
        return f"secret {wanted} holds no login of a registry"
    server = str(at(config, "spec.driver.image", "")).partition("/")[0]
    return "" if server in held.get("auths", {}) else f"unauthorized: secret {wanted} has no login of {server}"


def build_problem(config: Json) -> str:
    """Reason why a driver build fails; empty if it produces an image."""
    image = str(at(config, "spec.driver.image", ""))
    if ":" in image.rpartition("/")[2]:
        return f"failed to resolve image {image}: the tag is the operator's to choose"
    return "" if at(config, "spec.driver.version") else "amdgpu-install: no version is given"


def build_pod(config: Json, tag: str) -> Json:
    """The Pod that compiles the driver and pushes its image."""
    given: Json = at(config, "spec.driver", {})
    pod = _pod(config, BUILD, at(config, "spec.selector", {}), given.get("tolerations") or [])
    pod["spec"]["containers"] = [
        {
            "name": "kaniko",
            "image": "gcr.io/kaniko-project/executor:v1.23.2",
            "args": [f"--destination={given.get('image')}:{tag}"],
        }
    ]
    return {**pod, "metadata": {**pod["metadata"], "name": f"{name(config)}-build-{digest(tag, 5)}"}}


def load_pod(config: Json, node: Json) -> Json:
    """The Pod that loads the built driver on one node."""
    pod = _pod(config, LOAD, {}, at(config, "spec.driver.tolerations", []))
    itself = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name(node)]}]}
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [itself]}}
    pod["spec"]["affinity"] = {"nodeAffinity": terms}
    pod["spec"]["containers"] = [{"name": "worker", "image": "docker.io/rocm/kernel-module-management-worker:v1.4.0"}]
    return {**pod, "metadata": {**pod["metadata"], "name": f"{LOAD}-{name(node)}-{name(config)}"}}


def _pod(config: Json, part: str, selector: Mapping[str, str], tolerations: list[Json]) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "namespace": amd.NAMESPACE,
            "labels": {CONFIG_LABEL: name(config), PART_LABEL: part},
            "annotations": {RUN_BY: MODEL},
            "ownerReferences": [owner_of(config)],
        },
        "spec": {"restartPolicy": "Never", "nodeSelector": dict(selector), "tolerations": tolerations},
    }


def owner_of(config: Json) -> Json:
    return {"apiVersion": amd.API_VERSION, "kind": amd.KIND, "name": name(config), "uid": at(config, "metadata.uid")}


def daemon_sets(config: Json) -> list[Json]:
    """DaemonSets that the DeviceConfig asks for: device plugin, node labeller and metrics exporter."""
    key, spec = name(config), at(config, "spec", {})
    plugin, metrics = at(spec, "devicePlugin", {}), at(spec, "metricsExporter", {})
    image = plugin.get("devicePluginImage") or amd.PLUGIN_IMAGE
    made = [_daemon_set(config, amd.device_plugin(key), image, plugin.get("devicePluginTolerations"))]
    if plugin.get("enableNodeLabeller", True):
        image = plugin.get("nodeLabellerImage") or amd.LABELLER_IMAGE
        made.append(_daemon_set(config, amd.node_labeller(key), image, plugin.get("nodeLabellerTolerations")))
    if metrics.get("enable"):
        made.append(_exporter(config, metrics))
    return made


def _exporter(config: Json, given: Json) -> Json:
    """The DaemonSet of the metrics exporter (internal/metricsexporter/metricsexporter.go)."""
    image = given.get("image") or amd.EXPORTER_IMAGE
    item = _daemon_set(config, amd.metrics_exporter(name(config)), image, given.get("tolerations"))
    own = {"daemonset-name": name(config), PART_LABEL: EXPORTER}
    item["metadata"]["labels"] = item["spec"]["selector"]["matchLabels"] = own
    template = item["spec"]["template"]
    template["metadata"]["labels"] = own
    (container,) = template["spec"]["containers"]
    port = {"name": "exporter-port", "containerPort": given.get("port") or amd.METRICS_PORT, "protocol": "TCP"}
    container |= {"name": f"{EXPORTER}-container", "ports": [port]}
    if (fields := at(given, "config.name", "")) != "":
        template["spec"]["volumes"] = [{"name": EXPORTER_CONFIG, "configMap": {"name": fields}}]
        container["volumeMounts"] = [{"name": EXPORTER_CONFIG, "mountPath": "/etc/metrics/"}]
    return item


def _daemon_set(config: Json, key: str, image: str, tolerations: list[Json] | None) -> Json:
    own = {CONFIG_LABEL: name(config), PART_LABEL: key}
    init = {"name": WAIT_FOR_DRIVER, "image": "busybox:1.36"}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": key,
            "namespace": amd.NAMESPACE,
            "labels": own,
            "ownerReferences": [owner_of(config)],
        },
        "spec": {
            "selector": {"matchLabels": own},
            "template": {
                "metadata": {"labels": own, "annotations": {RUN_BY: MODEL}},
                "spec": {
                    "nodeSelector": dict(at(config, "spec.selector", {})),
                    "tolerations": tolerations or [],
                    "initContainers": [init],
                    "containers": [{"name": key, "image": image}],
                },
            },
        },
    }


def node_labels(gpu: Gpu, driver: str) -> dict[str, str]:
    """Labels of the node labeller (ROCm/k8s-device-plugin, cmd/k8s-node-labeller)."""
    return {
        "amd.com/gpu.vram": f"{gpu.memory_gib}G",
        "amd.com/gpu.device-id": gpu.pci.rpartition(":")[2],
        "amd.com/gpu.product-name": gpu.product,
        "amd.com/gpu.driver-version": driver,
    }


def operand_status(pod: Json, now: str, *, loaded: bool) -> Json:
    """The status of an operand's Pod: waiting in its init container until the driver is loaded, then running."""
    (init,), (main,) = at(pod, "spec.initContainers", []), at(pod, "spec.containers", [])
    shown = {"imageID": "", "restartCount": 0}
    waits = {"running": {"startedAt": now}}
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}}
    first = {**shown, "name": init["name"], "image": init["image"], "ready": loaded, "state": done if loaded else waits}
    state = {"running": {"startedAt": now}} if loaded else {"waiting": {"reason": "PodInitializing"}}
    held = "True" if loaded else "False"
    return {
        "phase": "Running" if loaded else "Pending",
        "startTime": at(pod, "status.startTime") or now,
        "initContainerStatuses": [first],
        "containerStatuses": [
            {**shown, "name": main["name"], "image": main["image"], "ready": loaded, "started": loaded, "state": state}
        ],
        "conditions": [
            {"type": kind, "status": held, "lastTransitionTime": now}
            for kind in ("Initialized", "ContainersReady", "Ready")
        ],
    }
