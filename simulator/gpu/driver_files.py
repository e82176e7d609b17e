"""ConfigMaps and Secrets that a driver's settings name. The driver's containers mount them file by file.

Source: NVIDIA/gpu-operator v26.7.0, `internal/state/driver_volumes.go`, `controllers/object_controls.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.cluster.objects import Json, at
from simulator.gpu import pods

LICENSE, TOKEN, TOPOLOGY = "gridd.conf", "client_configuration_token.tok", "nvidia-topologyd.conf"


_KINDS = {
    "repoConfig": "custom repo config",
    "certConfig": "custom certs",
    "kernelModuleConfig": "kernel module configuration",
}


class MissingFiles(Exception):
    """Error about a missing ConfigMap to which the settings of a driver refer."""


@dataclass(frozen=True)
class DriverFiles:
    """Files of ConfigMaps and Secrets that a driver's containers mount. `volumes`: volumes by name; the `items` of a
    volume list its mounted files.
    """

    volumes: Mapping[str, Json]

    @property
    def mounts(self) -> list[list[str]]:
        """Name of the volume and name of the file, for each mounted file."""
        return [[name, file] for name, volume in sorted(self.volumes.items()) for file in sorted(volume["items"])]


NO_FILES = DriverFiles({})


def _named(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Settings that name a ConfigMap, in the operator's order: the setting's path and the ConfigMap's name.

    A driver with precompiled modules downloads no packages, so its package settings are skipped.
    """
    paths = ["kernelModuleConfig.name"]
    if spec.get("usePrecompiled") is not True:
        paths = ["repoConfig.name", "repoConfig.configMapName", "certConfig.name", *paths]
    return [(path, str(found)) for path in paths if (found := at(spec, path, ""))]


def maps_of(spec: Mapping[str, Any]) -> list[str]:
    """Names of the ConfigMaps whose files the operator mounts into the driver."""
    return [name for _, name in _named(spec)]


def files_of(spec: Mapping[str, Any], maps: Mapping[str, Mapping[str, str]]) -> DriverFiles:
    """The files that a driver with these settings mounts.

    Args:
        maps: Content of the existing ConfigMaps, by name.

    Raises:
        MissingFiles: A ConfigMap that the settings name does not exist.
    """
    volumes: dict[str, Json] = {}
    for path, name in _named(spec):
        if name not in maps:
            problem = f'could not get ConfigMap {name} from client: ConfigMap "{name}" not found'
            kind = _KINDS[path.partition(".")[0]]
            raise MissingFiles(f"ERROR: failed to create ConfigMap VolumeMounts for {kind}: ERROR: {problem}")
        volumes[name] = {"configMap": name, "items": {key: key for key in sorted(maps[name])}}
    licence: Mapping[str, Any] = at(spec, "licensingConfig", {})
    config = licence.get("name") or licence.get("configMapName")
    if config or licence.get("secretName"):
        files = (LICENSE, TOKEN) if licence.get("nlsEnabled") is True else (LICENSE,)
        secret = licence.get("secretName")
        source: Json = {"secret": str(secret)} if secret else {"configMap": str(config)}
        volumes["licensing-config"] = {**source, "items": {key: key for key in files}}
    if topology := at(spec, "virtualTopologyConfig.name") or at(spec, "virtualTopology.config"):
        volumes["topology-config"] = {"configMap": str(topology), "items": {TOPOLOGY: TOPOLOGY}}
    return DriverFiles(volumes)


def mount(given: pods.Draft, files: DriverFiles) -> None:
    given.volumes |= files.volumes
