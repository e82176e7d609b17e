"""Judgement of the network connections in a stack by every hop on their way: NetworkPolicies, security groups, routes,
names and firewalls of services.

`declared.yaml` lists the flows: those that must be open, those that must be closed, and those that are open although
they should not be, with what protects them instead. `judge(stack)` tells for each flow of the stack whether it is open,
and which resource decides that. `world.py` reads the resources once, `paths.py` finds the ends of a flow, and a way is
a tuple of hops, each with a `Verdict`. To add a hop, write a module that judges it, and call it from `hops.py` or
`service_ways.py`.
"""

from __future__ import annotations

from workbench.policies.flows.declared import FLOWS, Flow, Required
from workbench.policies.flows.judging import Judgement, judge
from workbench.policies.flows.verdicts import Verdict

__all__ = ["FLOWS", "Flow", "Judgement", "Required", "Verdict", "judge"]
