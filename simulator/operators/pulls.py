"""Images that a Pod cannot pull, because the stack's registry has neither a cache rule for them nor an imported copy.

Importing an image creates no Azure resource. The stack lists the images to import (`dataServices.registry.imported`) in
an annotation of its admission policy, and the simulator assumes that all listed images were imported. Only Pods that
wait for their mounts are checked, and those are the Pods of OSMO's control plane.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from simulator.azure import ids
from simulator.azure.state import AzureState, Resource
from simulator.azure.store import Store
from simulator.cluster.objects import Json, at
from simulator.kubernetes.client import Client
from simulator.operators.mounts import StartProblem

SUFFIX = ".azurecr.io"
POLICY = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/registry-images"
IMPORTED = "physical-ai/imported-images"


class Pulls:
    """Checks images against the simulated Azure's registries. `file`: the simulated Azure's state file."""

    def __init__(self, client: Client, file: Path) -> None:
        self._client, self._store = client, Store(file)

    def problem(self, pod: Json) -> StartProblem | None:
        """Problem with the first image of the Pod that the registry does not have; None if all images can be pulled."""
        own = [image for image in _images(pod) if image.partition("/")[0].endswith(SUFFIX)]
        if not own:
            return None
        self._store.refresh()
        azure = AzureState(dict(self._store.resources), now=0.0)
        imported = self._imported()
        for image in own:
            host, _, path = image.partition("/")
            if path.partition("@")[0] not in imported and not _is_cached(azure, host, path):
                text = (
                    f'Failed to pull image "{image}": rpc error: code = NotFound desc = failed to pull and unpack image'
                )
                return StartProblem("ImagePullBackOff", "Failed", f"{text}: {image}: not found")
        return None

    def _imported(self) -> set[str]:
        found = self._client.find(POLICY) or {}
        notes: dict[str, str] = at(found, "metadata.annotations", {})
        return {str(each).partition("@")[0] for each in json.loads(notes.get(IMPORTED, "[]"))}


def _images(pod: Json) -> Iterator[str]:
    for kind in ("initContainers", "containers"):
        for container in at(pod, f"spec.{kind}", []):
            yield str(container["image"])


def _is_cached(azure: AzureState, host: str, path: str) -> bool:
    """True if a cache rule of the registry covers the image's repository."""
    registries = [each for each in azure.of_kind("Registry") if f"{ids.name(each.id).lower()}{SUFFIX}" == host]
    rules = (rule for registry in registries for rule in azure.children(registry.id, "CacheRule"))
    return any(path.startswith(_target(rule)) for rule in rules)


def _target(rule: Resource) -> str:
    return str(at(rule.body, "properties.targetRepository", "")).removesuffix("*")
