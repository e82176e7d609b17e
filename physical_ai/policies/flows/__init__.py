"""Who reaches whom, over all on the way: security groups, load balancers, firewalls of services, NetworkPolicies.

`declared.yaml` has the flows: what has to be open, what has to be closed, and what is open although it should not be,
with what protects it instead. `judge(stack)` says of each that the stack has whether it is open, and which resource
decides that. To add a hop such as routes or names: a module that answers `Verdict` for it, and its place in `paths.py`.
"""

from __future__ import annotations

from physical_ai.policies.flows.declared import FLOWS, Flow, Required
from physical_ai.policies.flows.judging import Judgement, judge
from physical_ai.policies.flows.verdicts import Verdict

__all__ = ["FLOWS", "Flow", "Judgement", "Required", "Verdict", "judge"]
