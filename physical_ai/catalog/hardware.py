"""Server models for existing clusters, NVIDIA's reference architecture that describes them, and a lookup for both
servers and VM sizes.

>>> machine("hgx-b200").gpu.count, machine("Standard_NC40ads_H100_v5").gpu.count
(8, 1)
"""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Annotated

from pydantic import Field, StringConstraints

from physical_ai.catalog.gpu_rows import Build, Minor
from physical_ai.catalog.load import DATA, CatalogError, read_mapping, read_rows, row, vm_sizes
from physical_ai.catalog.lookup import UnknownName, nearest, vm_size
from physical_ai.catalog.rows import Machine, Row, Text

Exact = Annotated[str, StringConstraints(pattern=r"^\d+(\.\d+)+$")]


class Firmware(Row):
    """Firmware that a server was tested with."""

    bundle: Exact
    vbios: Annotated[str, StringConstraints(pattern=r"^[0-9A-F]{2}(\.[0-9A-F]{2}){4}$")]
    """VBIOS version of each GPU, as `nvidia-smi` prints it."""
    tool: Text
    """Program on the machine that reads and updates the firmware."""


class Server(Machine):
    """A server model."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$")]
    shape: Annotated[str, StringConstraints(pattern=r"^\d-\d+-\d+-\d+$")]
    """NVIDIA's name for the server's configuration, such as `2-8-9-400`: sockets, GPUs, NICs, and Gb/s per NIC of the
    network between GPUs.
    """
    sockets: Annotated[int, Field(ge=1)]
    nics: Annotated[int, Field(ge=1)]
    rails: Annotated[int, Field(ge=0)]
    """Number of NICs in the network between the GPUs."""
    rail_gbps: Annotated[int, Field(ge=1)]
    minimum_driver: Build | None
    """First driver build that supports the server's GPUs; None for a server without GPUs."""
    firmware: Firmware | None


class Installer(Row):
    """Program that installed a cluster, with its version."""

    name: Text
    version: Exact


class OnPremises(Row):
    """Versions and structure of the cluster in NVIDIA's reference architecture for servers."""

    os: Text
    os_release: Minor
    kernels: tuple[Text, ...]
    installer: Installer
    kubernetes: Exact
    containerd: Exact
    control_planes: Annotated[int, Field(ge=1)]
    virtual_ip: Text
    cuda: Minor
    runai_kubernetes: tuple[Minor, Minor]
    """Oldest and newest Kubernetes minor that Run:ai supports."""
    unverified: tuple[Text, ...] = ()
    source: Text
    date: datetime.date


class UpstreamMinor(Row):
    """A minor of upstream Kubernetes."""

    minor: Minor
    ga: datetime.date | None
    end_of_life: datetime.date | None
    unverified: tuple[Text, ...] = ()
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def servers() -> dict[str, Server]:
    """All servers by name."""
    found: dict[str, Server] = {}
    for data in read_rows(DATA / "servers.yaml"):
        where = f"servers.yaml: {data.get('name')}"
        server = row(Server, data, where)
        gpus = server.gpu.count if server.gpu else 0
        if server.shape != f"{server.sockets}-{gpus}-{server.nics}-{server.rail_gbps}":
            raise CatalogError(f"{where} has another shape than its name says")
        if server.name in found or server.name in vm_sizes():
            raise CatalogError(f"{where} is a duplicate")
        if not set(server.driver_sources) <= {"operator", "host", "grid"}:
            raise CatalogError(f"{where}: AKS installs no driver on it")
        found[server.name] = server
    return found


@lru_cache(maxsize=1)
def machines() -> dict[str, Machine]:
    """VM sizes and servers, by name."""
    return {**vm_sizes(), **servers()}


def server(name: str) -> Server:
    """The server of this name. Raises `UnknownName`."""
    found = servers().get(name)
    if found is None:
        raise UnknownName("server", name, nearest(name, servers()))
    return found


def machine(name: str) -> Machine:
    """The VM size or server of this name. Raises `UnknownName`, with the nearest name of either kind."""
    found = servers().get(name)
    if found is not None:
        return found
    if name in vm_sizes() or (near := nearest(name, servers())) is None:
        return vm_size(name)
    raise UnknownName("VM size or server", name, near)


@lru_cache(maxsize=1)
def on_premises() -> OnPremises:
    """Versions and structure of the cluster in NVIDIA's reference architecture for servers."""
    return row(OnPremises, read_mapping(DATA / "on_premises.yaml"), "on_premises.yaml")


@lru_cache(maxsize=1)
def upstream_minors() -> dict[str, UpstreamMinor]:
    """Minors of upstream Kubernetes by name, oldest first."""
    rows = read_rows(DATA / "upstream_kubernetes.yaml")
    return {
        item.minor: item for item in (row(UpstreamMinor, data, f"upstream_kubernetes.yaml: {data}") for data in rows)
    }
