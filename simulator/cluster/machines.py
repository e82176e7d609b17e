"""The machine that a simulated node stands for: a VM size, or a server of a cluster that existed before its stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai.catalog.hardware import machines
from physical_ai.catalog.rows import Machine
from simulator.cluster.names import MACHINE
from simulator.cluster.objects import annotations_of, labels

INSTANCE_TYPE = "node.kubernetes.io/instance-type"


def machine_of(node: Mapping[str, Any]) -> Machine | None:
    """Machine of a node; None if the catalogue does not have it.

    A cluster without a cloud sets no instance type, so an annotation names the machine there.
    """
    return machines().get(annotations_of(node).get(MACHINE) or labels(node).get(INSTANCE_TYPE, ""))
