"""Connections between parties, over every hop on the way: NetworkPolicies, security groups, routes, names, firewalls of
services.

`declared.yaml` has the flows: what has to be open, what has to be closed, and what is open although it should not be,
with what protects it instead. `judge(stack)` says of each that the stack has whether it is open, and which resource
decides that. `world.py` reads the resources once, `paths.py` finds the ends of a flow, and a way is a tuple of hops,
each a `Verdict`. To add a hop: a module that answers it, and its place in `hops.py` or `service_ways.py`.
"""

from __future__ import annotations

from workbench.policies.flows.declared import FLOWS, Flow, Required
from workbench.policies.flows.judging import Judgement, judge
from workbench.policies.flows.verdicts import Verdict

__all__ = ["FLOWS", "Flow", "Judgement", "Required", "Verdict", "judge"]
