"""Conditions under which a stack has an alert: its pools, its parts, the collected fields, and alerts that are switched
off.
"""

from __future__ import annotations

from physical_ai.telemetry.parameters import Override, Parameters, PoolFacts
from physical_ai.telemetry.promql import metrics
from physical_ai.telemetry.rule_rows import Condition, Each, alert_rows

EMPTY = Override()


def existing(parameters: Parameters) -> frozenset[str]:
    """Names of the alerts that a stack has. Only such alerts may suppress others."""
    return frozenset(
        name
        for name, found in alert_rows().items()
        if parameters.overrides.get(name, EMPTY).enabled
        and exists(found.when, parameters)
        and (found.each is None or any(applies(found.each, pool) for pool in parameters.pools))
        and _is_measured(found.expression, parameters)
    )


def exists(condition: Condition | None, parameters: Parameters) -> bool:
    pools = [pool for pool in parameters.pools if pool.resources]
    found: dict[Condition, bool] = {
        "gpu-pools": bool(pools) or any(pool.claims for pool in parameters.pools),
        "grid-pools": any(pool.grid for pool in pools),
        "amd-pools": any(pool.amd for pool in pools),
        "infiniband-pools": any(pool.infiniband for pool in parameters.pools),
        "mig-pools": any(pool.instances for pool in parameters.pools),
        "aks": parameters.azure and bool(parameters.pools),
        "quarantine": parameters.quarantines,
        "osmo": parameters.osmo_namespace is not None,
    }
    return condition is None or found[condition]


def applies(each: Each, pool: PoolFacts) -> bool:
    if each == "claim-pool":
        return pool.claims
    return bool(pool.resources) and (each == "gpu-pool" or pool.autoscaled)


def _is_measured(expression: str, parameters: Parameters) -> bool:
    needed = {name for name in metrics(expression) if name.startswith("DCGM_")}
    return not needed or bool(needed & parameters.counters)
