"""Requirements of NCCL on the nodes of a VM size, published results, and variables that a task should not set.

>>> pool_kind("Standard_NC40ads_H100_v5").kind
'single'
>>> variable("NCCL_IB_TC").problem
'fabric'
>>> figure("Standard_ND96isr_H200_v5", 2).least
400.0
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from physical_ai.catalog.hardware import machine
from physical_ai.catalog.load import DATA, CatalogError, read_mapping, row
from physical_ai.catalog.rows import Row, Text, VmSize

FILE = DATA / "nccl.yaml"
NCCL_SOURCE = "physical_ai/catalog/data/nccl.yaml"
Problem = Literal["automatic", "debugging", "fabric", "interface"]


class NcclPool(Row):
    """A kind of node pool for NCCL; the data file explains the fields."""

    kind: Literal["infiniband", "peers", "single"]
    title: Text
    series: tuple[Text, ...] = ()
    least_gpus: int = 1
    environment: Mapping[str, str]
    note: Text
    source: Text
    date: datetime.date
    unverified: tuple[Text, ...] = ()


class NcclVariable(Row):
    """An NCCL variable that a task should set only for a reason."""

    name: Text
    problem: Problem
    accepted: tuple[Text, ...] = ()
    since: Text | None = None
    reason: Text
    source: Text
    date: datetime.date
    unverified: tuple[Text, ...] = ()


class NcclFigure(Row):
    """Measured bandwidth of an all-reduce over several nodes in one setup; the data file explains the fields."""

    size: Text
    nodes: Annotated[int, Field(ge=2)]
    bytes: Annotated[str, Field(pattern=r"^\d+[KMG]$")]
    measured: Annotated[float, Field(gt=0)]
    least: Annotated[float, Field(gt=0)]
    setup: Text
    source: Text
    date: datetime.date
    unverified: tuple[Text, ...] = ()


@cache
def figures() -> tuple[NcclFigure, ...]:
    """Measured bandwidths of all-reduces over several nodes, one row for each setup."""
    return tuple(row(NcclFigure, each, f"{FILE.name}: figures") for each in read_mapping(FILE)["figures"])


def figure(size: str, nodes: int) -> NcclFigure | None:
    """Published bandwidth of an all-reduce over this number of nodes of a VM size; None if none is published."""
    return next((each for each in figures() if (each.size, each.nodes) == (size, nodes)), None)


@cache
def pool_kinds() -> tuple[NcclPool, ...]:
    """Kinds of node pools for NCCL, in the order of the data file. `pool_kind` returns the first kind that fits a VM
    size.
    """
    return tuple(row(NcclPool, each, f"{FILE.name}: pools") for each in read_mapping(FILE)["pools"])


@cache
def variables() -> tuple[NcclVariable, ...]:
    """Rows about NCCL variables, in the order of the data file. `variable` returns the first row that fits a name."""
    return tuple(row(NcclVariable, each, f"{FILE.name}: variables") for each in read_mapping(FILE)["variables"])


def pool_kind(size: str) -> NcclPool:
    """Kind of node pool for NCCL to which a VM size or server with GPUs belongs.

    Raises:
        UnknownName: there is no such size.
        CatalogError: no kind fits.
    """
    known = machine(size)
    series = known.series if isinstance(known, VmSize) else ""
    gpus = known.gpu.count if known.gpu else 0
    for each in pool_kinds():
        if series in each.series or (not each.series and gpus >= each.least_gpus):
            return each
    raise CatalogError(f"{FILE.name}: no kind of pool fits {size}")


def variable(name: str) -> NcclVariable | None:
    """Row about an NCCL variable; None for a variable that a task may set."""
    for each in variables():
        if name == each.name or (each.name.endswith("*") and name.startswith(each.name[:-1])):
            return each
    return None
