"""Inputs of DRIVER_CONFIG_DIGEST: exactly the settings that determine what a driver's Pod installs.

If two Pods have equal digests, the second one uses the modules that the first one has loaded, and from v26.7.0 on the
upgrade controller restarts it without clearing its node.

Source: NVIDIA/gpu-operator v26.7.0, `internal/config/driver_config_digest.go`; `buildDriverInstallConfig` in
`internal/state/driver.go`; `extractDriverInstallConfig` in `controllers/object_controls.go`. v26.3.3 has the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.cluster.objects import Json, at
from simulator.gpu.driver import OperatingSystem
from simulator.gpu.driver_files import DriverFiles
from simulator.gpu.pods import Draft

CONFIG_DIGEST = "DRIVER_CONFIG_DIGEST"
_MANAGER, _PEERMEM = "k8s-driver-manager", "nvidia-peermem-ctr"
_SIDECARS = {"gds": "nvidia-fs-ctr", "gdrcopy": "nvidia-gdrcopy-ctr"}


def of_driver(
    given: Draft, spec: Mapping[str, Any], target: OperatingSystem, files: DriverFiles, host_root: str
) -> Json:
    """Digest input for the driver of an NVIDIADriver, from `spec`. Names of ConfigMaps in `spec` are part of the input
    even if no such ConfigMaps exist.

    Probes, resources, tolerations, labels, annotations, selectors, pull settings and priority are left out.
    """
    found: Json = {
        "driver image": given.containers[given.main]["image"],
        "manager image": given.init[_MANAGER]["image"],
        "type": spec.get("driverType"),
        "modules": spec.get("kernelModuleType"),
        "args": spec.get("args"),
        "secret": spec.get("secretEnv"),
        "env": _pairs(spec.get("env")),
        "manager env": _pairs(at(spec, "manager.env")),
        "licence": at(spec, "licensingConfig.secretName"),
        "topology": at(spec, "virtualTopologyConfig.name"),
        "module parameters": at(spec, "kernelModuleConfig.name"),
        "repositories": at(spec, "repoConfig.name"),
        "certificates": at(spec, "certConfig.name"),
        "rdma": at(spec, "rdma.enabled", False) is True and _rdma(given, spec),
        "kernel": target.kernel,
        "volumes": _volumes(files.volumes),
        "mounts": files.mounts,
        "host": host_root,
    }
    for field, container in _SIDECARS.items():
        if container in given.containers:
            found[field] = [given.containers[container]["image"], _pairs(at(spec, f"{field}.env"))]
    return _filled(found)


def of_policy(given: Draft, files: DriverFiles) -> Json:
    """Digest input for the ClusterPolicy's driver, from its finished DaemonSet. All volumes of the DaemonSet are part
    of the input, and all environment variables with a literal value.
    """
    main = given.containers[given.main]
    found: Json = {
        "driver image": main["image"],
        "manager image": given.init[_MANAGER]["image"],
        "command": main.get("command"),
        "args": main.get("args"),
        "secret": main.get("envFrom"),
        "env": _direct(given.env(given.main)),
        "manager env": _direct(given.env(_MANAGER)),
        "peermem image": given.containers.get(_PEERMEM, {}).get("image"),
        "volumes": _volumes(given.volumes),
        "mounts": files.mounts,
    }
    for field, container in _SIDECARS.items():
        if container in given.containers:
            found[field] = [given.containers[container]["image"], _direct(given.env(container))]
    return _filled(found)


def digest_of(pod: Mapping[str, Any]) -> str:
    """The value of DRIVER_CONFIG_DIGEST in a Pod's spec; empty if no container has it."""
    containers: list[Json] = [*(pod.get("initContainers") or ()), *(pod.get("containers") or ())]
    variables = (each for container in containers for each in container.get("env") or ())
    return next((str(each["value"]) for each in variables if each["name"] == CONFIG_DIGEST and each.get("value")), "")


def is_same_install(running: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """True if both Pod specs have the same DRIVER_CONFIG_DIGEST: both Pods then install the same driver. False if a
    digest is missing.
    """
    return digest_of(running) == digest_of(wanted) != ""


def _rdma(given: Draft, spec: Mapping[str, Any]) -> list[Any]:
    return [given.containers[_PEERMEM]["image"], at(spec, "rdma.useHostMofed", False) is True]


def _pairs(entries: Sequence[Mapping[str, Any]] | None) -> list[list[str]]:
    return sorted([str(each.get("name")), str(each.get("value", ""))] for each in entries or ())


def _direct(env: Mapping[str, Any]) -> list[list[str]]:
    """Names and values of the environment variables with a literal value. Variables that refer to a field of the Pod
    are left out.
    """
    return sorted([key, value] for key, value in env.items() if isinstance(value, str))


def _volumes(given: Mapping[str, Json]) -> list[list[str]]:
    """Name and source of each volume, without the files in the volume."""
    sources = ("configMap", "secret", "hostPath")
    return [[key, *(str(volume.get(each, "")) for each in sources)] for key, volume in sorted(given.items())]


def _filled(given: Json) -> Json:
    """The digest input without empty values. A setting that is not used therefore never changes a digest, even if a new
    release adds the setting.
    """
    return {key: value for key, value in given.items() if value}
