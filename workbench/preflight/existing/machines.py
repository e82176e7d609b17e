"""Comparison of the machines of a pool with the server model that its settings name: GPUs, CPUs, network cards,
firmware.

A missing label, or a resource that no node offers yet, proves nothing: the finding is then `unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from physical_ai.catalog.hardware import Server
from physical_ai.findings import Finding
from physical_ai.kubernetes.objects import annotations_of, labels, name
from physical_ai.nested import at, mappings, parsed
from workbench.preflight.existing.objects import Json, doubtful, listed, numbers, ok, unknown, wrong

NVIDIA_CARD = ("feature.node.kubernetes.io/pci-10de.present", "feature.node.kubernetes.io/pci-0302_10de.present")
MELLANOX_CARD = "feature.node.kubernetes.io/pci-15b3.present"
PRODUCT, COUNT = "nvidia.com/gpu.product", "nvidia.com/gpu.count"
RDMA = "rdma/"
EVIDENCE_LABEL, EVIDENCE_KEY = "physical-ai/evidence", "machine.json"
FIRMWARE, VBIOS, NIC_DRIVER = "physical-ai/firmware-bundle", "physical-ai/vbios", "physical-ai/nic-driver"
"""Node annotations in which the cluster's owner writes facts that the API server does not know: the versions of the
firmware bundle and of the VBIOS, and the network driver.
"""
INBOX = "inbox"
"""Value of the annotation NIC_DRIVER for the kernel's own driver, in place of DOCA-OFED."""


def judge_machines(
    pool: str, server: Server, nodes: Sequence[Json], evidence: Sequence[Json] | None
) -> Iterator[Finding]:
    """All findings about the machines of one pool."""
    where = f"pools.{pool}"
    if not nodes:
        yield wrong("class", where, "Its selector matches no node: the class would have no GPU.", "kubectl get nodes")
        return
    yield ok("class", where, f"{len(nodes)} nodes: {listed(map(name, nodes))}")
    yield from _gpus(where, server, nodes)
    yield from _processors(where, server, nodes)
    yield from _cards(where, server, nodes)
    yield from _firmware(where, server, nodes, evidence or ())


def _gpus(where: str, server: Server, nodes: Sequence[Json]) -> Iterator[Finding]:
    gpu = server.gpu
    if gpu is None:
        return
    for node in nodes:
        here, held = f"{where}: {name(node)}", labels(node)
        product, count = held.get(PRODUCT), held.get(COUNT)
        if product is not None and product != gpu.product:
            problem = f"It has {product}, and a {server.name} has {gpu.product}."
            yield wrong("gpu", here, problem, "Another sku for its class, or a row in servers.yaml.", server.source)
        elif count is not None and count.isdigit() and int(count) != gpu.count:
            problem = f"{count} GPUs of {gpu.count}: what the others would run waits for them."
            yield wrong("gpu", here, problem, "Find the missing one: lspci -d 10de: and the system event log.")
        elif product is not None and count is not None:
            yield ok("gpu", here, f"{count} × {product}")
        elif any(held.get(each) == "true" for each in NVIDIA_CARD):
            yield unknown("gpu", here, "NVIDIA's cards are there; model and number are known once GFD runs.")
        else:
            problem = "No label indicates a GPU: Node Feature Discovery does not run there, or there is none."
            yield unknown("gpu", here, problem, "lspci -d 10de:  on the node")


def _processors(where: str, server: Server, nodes: Sequence[Json]) -> Iterator[Finding]:
    counts = {str(at(node, "status.capacity.cpu") or "") for node in nodes}
    if len(counts) > 1:
        problem = f"Nodes of one class have {listed(counts)} CPUs: what fits one does not fit another."
        yield doubtful("shape", where, problem, "A class for each kind of node.")
        return
    text = next(iter(counts))
    if not text:
        yield unknown("shape", where, "The kubelets report no CPUs.")
    elif text.isdigit() and int(text) < server.vcpus and "vcpus" not in server.unverified:
        yield doubtful("shape", where, f"{text} CPUs, and a {server.name} has {server.vcpus}.", "Another sku.")
    else:
        sockets = f"{server.sockets} sockets are expected, which no label reports"
        yield unknown("shape", where, f"{text} CPUs a node; {sockets}.", "lscpu  on the node")


def _cards(where: str, server: Server, nodes: Sequence[Json]) -> Iterator[Finding]:
    """Findings about the number of rails (ports of the GPU network) of each node, which is the number of RDMA resources
    that the node offers. Unknown for a node without RDMA resources, because labels do not show the number.
    """
    for node in nodes:
        here = f"{where}: {name(node)}"
        offered = _rails(node)
        if offered and offered != server.rails:
            problem = f"{offered} rails of {server.rails}: collective operations have that part of the bandwidth."
            yield wrong("rails", here, problem, "The Network Operator's resources, cables, and the switch's ports.")
        elif offered:
            yield ok("rails", here, f"{offered} rails")
        elif labels(node).get(MELLANOX_CARD) == "true":
            expected = f"{server.nics} cards with {server.rails} rails of {server.rail_gbps} Gb/s"
            problem = f"NVIDIA's network cards are there; {expected} are expected, and nothing offers them yet."
            yield unknown("rails", here, problem, "ibdev2netdev  on the node")
        else:
            problem = f"No label reports its network cards; {server.nics} are expected."
            yield unknown("rails", here, problem, "lspci -d 15b3:  on the node")


def _rails(node: Json) -> int:
    """Number of RDMA resources that a node offers: one for each rail."""
    held: Mapping[str, Any] = at(node, "status.allocatable") or {}
    return sum(key.startswith(RDMA) and str(value) != "0" for key, value in held.items())


def _firmware(where: str, server: Server, nodes: Sequence[Json], evidence: Sequence[Json]) -> Iterator[Finding]:
    wanted = server.firmware
    for node in nodes:
        here, said = f"{where}: {name(node)}", annotations_of(node)
        driver = said.get(NIC_DRIVER)
        if driver is None:
            problem = "Which driver its network cards have is not known; the kernel's own (inbox) is expected."
            yield unknown("nic-driver", here, problem, "ofed_info -s  on the node fails with the inbox driver")
        elif driver != INBOX:
            problem = f"{driver}, not the kernel's own: another one than was tested, and built again for each kernel."
            yield doubtful("nic-driver", here, problem, "The inbox driver, or networkOperator with its OFED driver.")
        else:
            yield ok("nic-driver", here, "the kernel's own")
        if wanted is None:
            yield unknown("firmware", here, f"No versions are known that a {server.name} was tested with.")
            continue
        yield from _compared("firmware", here, said.get(FIRMWARE), wanted.bundle, f"{wanted.tool} show_version")
        read = vbios_of(node, evidence)
        query = "nvidia-smi --query-gpu=vbios_version --format=csv"
        for found in read or [said.get(VBIOS)]:
            yield from _compared("vbios", here, found, wanted.vbios, query)


def _compared(rule: str, where: str, found: str | None, wanted: str, how: str) -> Iterator[Finding]:
    if found is None:
        yield unknown(rule, where, f"Not known; {wanted} is expected.", f"On the node: {how}")
    elif _parts(found) == _parts(wanted):
        yield ok(rule, where, found)
    else:
        older = "older" if _parts(found) < _parts(wanted) else "newer"
        problem = f"{found} is {older} than {wanted}, with which the reference was tested."
        cost = "Known faults of GPUs may return." if older == "older" else "No report on this combination is known."
        yield doubtful(rule, where, f"{problem} {cost}", f"On the node, with the GPUs idle: {how}")


def _parts(text: str) -> tuple[int, ...]:
    """Numbers of a version: each part between dots, read as a hexadecimal number, as in VBIOS versions. If a part is
    not hexadecimal, all decimal numbers in the text.
    """
    try:
        return tuple(int(part, 16) for part in text.split("."))
    except ValueError:
        return numbers(text)


def vbios_of(node: Json, evidence: Sequence[Json]) -> list[str]:
    """VBIOS versions that the evidence has about a node's machine, without duplicates."""
    found: set[str] = set()
    for record in evidence:
        if labels(record).get(EVIDENCE_LABEL) == name(node)[:63]:
            machine = parsed(at(record, "data", {}).get(EVIDENCE_KEY))
            found |= {str(card["vbios"]).upper() for card in mappings(at(machine, "gpus")) if card.get("vbios")}
    return sorted(found)
