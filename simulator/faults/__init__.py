"""Faults of GPU nodes: data about what each changes, and the record of those that are injected."""

from simulator.faults.catalogue import Effects, Fault, UnknownFault, fault, faults
from simulator.faults.record import ANNOTATION, NO_FAULTS, Injected, NodeFaults, injected, node_faults

__all__ = [
    "ANNOTATION",
    "NO_FAULTS",
    "Effects",
    "Fault",
    "Injected",
    "NodeFaults",
    "UnknownFault",
    "fault",
    "faults",
    "injected",
    "node_faults",
]
