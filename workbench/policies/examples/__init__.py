"""Examples for each rule of resources that comply with it and resources that violate it.

The tests run them, the reference shows them.
"""

from __future__ import annotations

from workbench.policies.examples import (
    azure,
    cost,
    data_logins,
    data_services,
    declarations,
    flows,
    gateway,
    gpu,
    images,
    isolation,
    networks,
    node_pools,
    reliability,
    secrets,
    workloads,
)
from workbench.policies.examples.model import Example

EXAMPLES: dict[str, list[Example]] = {
    **declarations.EXAMPLES,
    **node_pools.EXAMPLES,
    **gpu.EXAMPLES,
    **azure.EXAMPLES,
    **data_services.EXAMPLES,
    **data_logins.EXAMPLES,
    **images.EXAMPLES,
    **networks.EXAMPLES,
    **isolation.EXAMPLES,
    **gateway.EXAMPLES,
    **flows.EXAMPLES,
    **secrets.EXAMPLES,
    **reliability.EXAMPLES,
    **workloads.EXAMPLES,
    **cost.EXAMPLES,
}
"""Examples by the rule's id; the reference shows the first."""

__all__ = ["EXAMPLES", "Example"]
