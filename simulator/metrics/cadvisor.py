"""The series of the kubelet's cAdvisor that dashboards use: CPU and memory use of running containers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.quantities import quantity
from simulator.cluster.objects import Json, at, name
from simulator.metrics.page import Page

CPU, MEMORY = "container_cpu_usage_seconds_total", "container_memory_working_set_bytes"
USED = {"cpu": 0.6, "memory": 0.5}
"""Fraction of its requested CPU and memory that a container uses. A container without a request uses the amount in
`LITTLE`.
"""
LITTLE = {"cpu": 0.05, "memory": 64 * 2**20}


class Cadvisor:
    """Prints the resource use of all containers, and adds up their CPU time."""

    def __init__(self) -> None:
        self._used: dict[tuple[str, str], float] = {}
        """CPU seconds by the Pod's uid and the container's name."""
        self._then = 0.0

    def page(self, pods: Sequence[Json], now: float) -> str:
        """cAdvisor's output for all Pods at time `now`, in seconds."""
        page, passed = Page(), max(now - self._then, 0.0) if self._then else 0.0
        self._then = now
        for name_, help in ((CPU, "CPU time."), (MEMORY, "Working set.")):
            page.family(name_, "counter" if name_ == CPU else "gauge", help)
        for pod in pods:
            if at(pod, "status.phase") == "Running":
                for container in pod["spec"]["containers"]:
                    self._container(page, pod, container, passed)
        return page.text()

    def _container(self, page: Page, pod: Json, container: Json, passed: float) -> None:
        own = {"namespace": str(at(pod, "metadata.namespace")), "pod": name(pod), "container": container["name"]}
        key = str(at(pod, "metadata.uid")), container["name"]
        self._used[key] = self._used.get(key, 0.0) + passed * _use(container, "cpu")
        page.sample(CPU, own, round(self._used[key], 3))
        page.sample(MEMORY, own, round(_use(container, "memory")))


def _use(container: Json, resource: str) -> float:
    requests: Mapping[str, Any] = at(container, "resources.requests", {})
    limits: Mapping[str, Any] = at(container, "resources.limits", {})
    given = requests.get(resource, limits.get(resource))
    amount = quantity(given) if given is not None else None
    return float(amount) * USED[resource] if amount is not None else LITTLE[resource]
