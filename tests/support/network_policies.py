"""Pods of OSMO's gateway, for tests of network policies."""

from __future__ import annotations

from workbench.policies.flows.declared import PARTIES
from workbench.policies.flows.network_policies import reaches
from workbench.policies.flows.parties import Address, Entity, Party, Pod

__all__ = ["GATEWAY_LABELS", "GATEWAY_PORT", "Address", "Entity", "Party", "Pod", "reaches"]

_gateway = PARTIES["gateway"]
assert isinstance(_gateway, Pod)
GATEWAY_LABELS = dict(_gateway.labels)
"""Labels of the gateway's Pods, which are the only way into the control plane."""
GATEWAY_PORT = "envoy-http"
"""Name of the port of the gateway's Pods, encrypted or not."""
