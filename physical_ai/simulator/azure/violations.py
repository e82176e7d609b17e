"""The same judgement without a request: for warnings at preview, where azure-native itself checks nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from physical_ai.simulator.azure import ids, schema
from physical_ai.simulator.azure.data import by_token, mappings
from physical_ai.simulator.azure.errors import Refusal
from physical_ai.simulator.azure.registry import modelled_by
from physical_ai.simulator.azure.rules import Put, pool_labels, pool_nodes, pool_scale, refusals
from physical_ai.simulator.azure.world import World
from physical_ai.simulator.wire import UNKNOWN, has_unknown

ABSENCE = frozenset({"vmsize-required", "pool-autoscale-needs-minmax", "spot-type-explicit"})
"""Rules that mistake an unknown value for a missing one."""


def violations(type: str, inputs: Mapping[str, Any], world: World) -> list[Refusal]:
    """Every reason why ARM would refuse a PUT with these inputs, most of them even while some are unknown.

    `type` is a token or a last name; `inputs` are Pulumi's, path parameters included. With unknowns among them only the
    schema and a node pool's own rules are judged, since the rest depends on what the unknown values will be.
    """
    mapping = by_token().get(type) or mappings()[type]
    params = {name: inputs.get(name, "") for name in mapping.path_params}
    known = not has_unknown(inputs)
    resource_id = ids.build(mapping, world.directory.subscription, params)
    old = world.get(resource_id) if known else None
    request = Put(mapping.kind, resource_id, inputs if known else _pruned(inputs), old, world)
    found = schema.refusals(mapping, Put(mapping.kind, resource_id, inputs, old, world).body)
    if known:
        return [*found, *refusals(request)]
    own = {f"{module.__name__}." for module in (pool_labels, pool_nodes, pool_scale)}
    local = {rule for rule, where in modelled_by().items() if any(where.startswith(prefix) for prefix in own)}
    return [*found, *(r for r in refusals(request) if r.rule in local - ABSENCE)]


def _pruned(value: Any) -> Any:
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value).items()
        return {name: _pruned(item) for name, item in members if item is not UNKNOWN}
    if isinstance(value, list):
        return [_pruned(item) for item in cast("list[Any]", value) if item is not UNKNOWN]
    return value
