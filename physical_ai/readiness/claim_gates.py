"""Gates of a node whose GPUs Pods request by resource claims. On such a node, the DRA driver runs instead of the device
plugin. Pure functions.
"""

from __future__ import annotations

from parts.dra.names import DRIVER
from physical_ai.readiness.model import ClosedGate
from physical_ai.readiness.node_gates import DEPLOY, NodeGates
from physical_ai.readiness.objects import allocatable


class ClaimGates(NodeGates):
    """Gates of a node in a pool whose GPUs Pods request by resource claims."""

    operands = ("container-toolkit", "operator-validator")

    def device_plugin(self) -> ClosedGate | None:
        """Closed gate `dra-driver` if the DRA driver does not run on the node, or if a device plugin runs or has
        registered resources there, because then two Pods could get the same GPU. None if only the DRA driver runs.
        """
        gate = "dra-driver"
        stray = self.evidence.pod(self.name, "device-plugin")
        others = sorted(allocatable(self.node).keys() - {DRIVER})
        if stray is not None or others:
            label = self.labels.get(f"{DEPLOY}device-plugin", "not set")
            offers = ", ".join(others) or "nothing yet"
            cause = "two-allocators-left" if label == "false" else "two-allocators"
            return self.closed(gate, cause, pod=stray, value=offers, label=label)
        if not self.evidence.daemonsets["dra-driver"]:
            return self.closed(gate, "dra-driver-absent")
        return self.pod(gate, "dra-driver")

    def offered(self) -> ClosedGate:
        """Closed gate `allocatable` of a node on which the DRA driver runs: the node offers no devices, or another
        number of devices than its pool should have.
        """
        found, wanted = allocatable(self.node).get(DRIVER, 0), self.expected.resources.get(DRIVER, 0)
        if found:
            return self.closed("allocatable", "other-devices", value=str(found), wanted=str(wanted))
        return self.wait("allocatable", "The DRA driver runs, and no ResourceSlice names the node's GPUs yet.")
