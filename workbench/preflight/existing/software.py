"""Findings about Kubernetes, container runtime, kernel and cgroups of a cluster's nodes."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence

from physical_ai.catalog.compat.runtime import NRI_DOCS, NRI_SINCE
from physical_ai.catalog.gpu_lookup import operator_release, within
from physical_ai.catalog.hardware import on_premises, upstream_minors
from physical_ai.catalog.lookup import UnknownName
from physical_ai.findings import Finding, Severity
from physical_ai.kubernetes.objects import name
from workbench.preflight.existing.objects import Json, doubtful, info, listed, minor, numbers, ok, unknown, wrong

GATEWAY_PORT = "containerd docs, cri/config; CRI-O docs, crio.conf"
CGROUPS_REQUIRED: tuple[int, int] = (1, 35)
"""Kubernetes version from which a kubelet refuses to start on cgroups v1, unless its configuration allows v1
(Kubernetes docs, cgroups).
"""


def judge_kubernetes(nodes: Sequence[Json], operator: str, today: datetime.date) -> Iterator[Finding]:
    """Findings about the kubelets' minor versions: Kubernetes' support for them, and the range of the GPU Operator's
    release.
    """
    minors = sorted({found for node in nodes if (found := minor(node)) is not None})
    if not minors:
        yield unknown("kubernetes", "nodes", "No kubelet reports its version.")
        return
    texts = [".".join(map(str, each)) for each in minors]
    if minors[-1][1] - minors[0][1] > 3:
        problem = f"Nodes have {', '.join(texts)}: a kubelet may be three minors older than the API server."
        yield wrong("kubernetes", "nodes", problem, "Upgrade the older nodes.", "Kubernetes docs, version-skew-policy")
    for text in texts:
        row = upstream_minors().get(text)
        if row is None:
            yield unknown("kubernetes", text, f"The support of Kubernetes {text} is not known.")
        elif row.end_of_life is not None and row.end_of_life < today:
            problem = f"Kubernetes {text} gets no patches since {row.end_of_life}: security fixes are lost."
            yield doubtful("kubernetes", text, problem, "Upgrade, one minor after the other.", row.source)
        else:
            yield ok("kubernetes", text, "patched by the project")
    yield from _operator_range(texts, operator)


def _operator_range(minors: Sequence[str], operator: str) -> Iterator[Finding]:
    try:
        release = operator_release(operator)
    except UnknownName:
        return
    if release.kubernetes is None:
        return
    low, high = release.kubernetes
    outside = [text for text in minors if within(text, release.kubernetes)]
    if outside:
        problem = f"GPU Operator {operator} supports Kubernetes {low} to {high}, not {', '.join(outside)}."
        yield wrong("operator", operator, problem, "Another release of the operator, or of Kubernetes.", release.source)
    else:
        yield ok("operator", operator, f"supports Kubernetes {', '.join(minors)}")


def judge_runtime(nodes: Sequence[Json], *, nri: bool) -> Iterator[Finding]:
    """Findings about the container runtime, containerd or CRI-O, and its support of NRI."""
    runtimes: dict[str, list[str]] = {}
    for node in nodes:
        runtimes.setdefault(info(node, "containerRuntimeVersion"), []).append(name(node))
    for text, where in sorted(runtimes.items()):
        kind, _, given = text.partition("://")
        if kind == "cri-o" and nri:
            problem = f"{listed(where)}: CRI-O, and the NRI plugin works with containerd only: no Pod would get a GPU."
            yield wrong("runtime", text, problem, "gpuOperator.nri: false", NRI_DOCS)
        elif kind == "containerd":
            found = numbers(given)
            if not found:
                yield unknown("runtime", text, f"{listed(where)}: the version of containerd is not known.")
            elif nri and (found < NRI_SINCE[0] or (2,) <= found < NRI_SINCE[1]):
                problem = f"{listed(where)}: the NRI plugin needs containerd 1.7.30, 2.1 or newer."
                yield wrong("runtime", text, problem, "gpuOperator.nri: false", NRI_DOCS)
            else:
                yield ok("runtime", text, f"{len(where)} nodes")
        elif kind == "cri-o":
            yield ok("runtime", text, f"{len(where)} nodes; the operator's toolkit writes a file of CRI-O's")
        else:
            problem = f"{listed(where)}: the GPU Operator configures containerd and CRI-O only."
            yield wrong("runtime", text or "none", problem, "containerd", "NVIDIA GPU Operator docs, platform support")
    if len({text.partition("://")[0] for text in runtimes}) > 1:
        problem = "Nodes differ in their runtime, and the operator has one toolkit for all."
        yield wrong("runtime", "nodes", problem, "One runtime on all GPU nodes.", "NVIDIA/gpu-operator, toolkit")


UNPRIVILEGED_PORTS = (2,)
"""First major version of containerd that lets every container listen below port 1024, because enable_unprivileged_ports
is on by default. This is assumed; it was not tested with a gateway.
"""


def judge_gateway(nodes: Sequence[Json]) -> Iterator[Finding]:
    """Findings about nodes on which OSMO's gateway may not listen on port 443, as user 1001 without capabilities.

    On such a node, Envoy ends with `Permission denied` (NVIDIA/OSMO 6.3.1
    deployments/charts/service/templates/gateway.yaml).
    """
    for text in sorted({info(node, "containerRuntimeVersion") for node in nodes}):
        kind, _, given = text.partition("://")
        if kind == "containerd" and numbers(given) >= UNPRIVILEGED_PORTS:
            continue
        setting = "enable_unprivileged_ports = true in containerd's configuration"
        if kind == "cri-o":
            setting = "default_sysctls = ['net.ipv4.ip_unprivileged_port_start=0'] in CRI-O's configuration"
        problem = f"OSMO's gateway listens on port 443 without rights, which {text or 'it'} refuses by default."
        yield doubtful("runtime", text or "none", problem, f"{setting}, on the nodes of the cpu pool.", GATEWAY_PORT)


def judge_kernel(nodes: Sequence[Json]) -> Iterator[Finding]:
    """Findings about kernels with which the drivers were not tested, and about operating systems without
    driver images.
    """
    reference = on_premises()
    tested = {numbers(kernel) for kernel in reference.kernels}
    others: dict[str, list[str]] = {}
    for node in nodes:
        kernel = info(node, "kernelVersion")
        if numbers(kernel)[:4] not in tested:
            others.setdefault(kernel, []).append(name(node))
    if not others:
        yield ok("kernel", "nodes", f"{' or '.join(reference.kernels)}, as the reference has")
    for kernel, where in sorted(others.items()):
        problem = f"{listed(where)}: not {' or '.join(reference.kernels)}, with which the drivers were tested."
        fix = "Build the driver on one node first. A driver container is built again for each kernel."
        yield Finding(Severity.INFO, "kernel", kernel or "unknown", problem, fix, reference.source)
    systems = {info(node, "osImage") for node in nodes}
    if len(systems) > 1:
        problem = f"{listed(systems)}: the operator needs one driver image for each system."
        fix = "gpuOperator.driverOwner: NVIDIADriver, and a class of nodes for each."
        yield doubtful("system", "nodes", problem, fix, "NVIDIA/gpu-operator#1622")


def judge_cgroups(nodes: Sequence[Json]) -> Iterator[Finding]:
    """Findings about the nodes' cgroup version.

    The API server does not know a node's cgroup version, but a kubelet from Kubernetes 1.35 on only runs on v2.
    """
    older = [name(node) for node in nodes if not (found := minor(node)) or found < CGROUPS_REQUIRED]
    if not older:
        yield ok("cgroups", "nodes", "v2: the kubelets refuse v1")
        return
    problem = "v1 or v2, which the API server does not report. On v1, an upgrade to Kubernetes 1.35 loses the node."
    yield unknown("cgroups", listed(older), problem, "On a node: stat -fc %T /sys/fs/cgroup  prints cgroup2fs.")
