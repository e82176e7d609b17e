"""Examples for each rule: resources that comply with the rule, and resources that violate it.

The tests evaluate the examples, and docs/reference/policies.md shows them.
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
"""Examples by the id of the rule. The reference page shows the first one of each rule."""

__all__ = ["EXAMPLES", "Example"]
