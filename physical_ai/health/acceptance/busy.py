"""Who holds the GPUs of a node."""

from __future__ import annotations

from physical_ai.catalog.vendors import GPU_DOMAINS
from physical_ai.kubernetes.fit import FINAL, requests
from physical_ai.kubernetes.objects import Json, at, name, namespace
from physical_ai.readiness.client import Send


def gpus_in_use(send: Send, node: str) -> dict[str, dict[str, int]]:
    """By resource, what each Pod on the node holds; Pods as `namespace/name`."""
    pods: list[Json] = send("GET", "/api/v1/pods", {"fieldSelector": f"spec.nodeName={node}"})["items"]
    found: dict[str, dict[str, int]] = {}
    for pod in pods:
        if at(pod, "status.phase") in FINAL:
            continue
        for resource, count in requests(pod).items():
            if resource.startswith(GPU_DOMAINS) and count:
                found.setdefault(resource, {})[f"{namespace(pod)}/{name(pod)}"] = count
    return found
