"""Judgement of the network connections in a stack. Every hop is judged: NetworkPolicies, security groups, routes, DNS
names, and firewalls of services.

`declared.yaml` lists the flows: those that must be open, those that must be closed, and those that are tolerated as
open, with what protects their target instead. `judge(stack)` tells for each flow of the stack whether it is open, and
which resource decides that. `world.py` reads the resources once, and `paths.py` finds both ends of a flow. The way
between the ends is a tuple of hops, each with a `Verdict`. To add a hop, write a module that judges it, and call it
from `hops.py` or `service_ways.py`.
"""

from __future__ import annotations

from workbench.policies.flows.declared import FLOWS, Flow, Required
from workbench.policies.flows.judging import Judgement, judge
from workbench.policies.flows.verdicts import Verdict

__all__ = ["FLOWS", "Flow", "Judgement", "Required", "Verdict", "judge"]
