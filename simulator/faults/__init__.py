"""Faults of GPU nodes: descriptions of the faults' effects, and the record of the injected faults."""

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
