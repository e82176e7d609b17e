"""Publication of a node's ResourceSlice, which on a real node is done by the DRA driver's plugin."""

from __future__ import annotations

from simulator.cluster.objects import Json, at, name
from simulator.gpu.claims import resource_slice
from simulator.gpu.live.cluster import Cluster
from simulator.gpu.node_state import NodeState
from simulator.gpu.state import covers


def report(cluster: Cluster, node: Json, state: NodeState) -> None:
    """Creates, changes or deletes the node's ResourceSlice; a change increases the generation of its pool.

    The real kubelet deletes the slices of a plugin 30 seconds after the plugin has ended.
    """
    held = next((each for each in cluster.all("ResourceSlice") if at(each, "spec.nodeName") == name(node)), None)
    generation = int(at(held, "spec.pool.generation", 0)) if held is not None else 0
    wanted = resource_slice(node, state, generation or 1)
    if wanted is None:
        if held is not None:
            cluster.delete({**held, "kind": "ResourceSlice"})
        return
    if held is not None and covers(held, wanted):
        return
    cluster.apply(wanted if held is None else resource_slice(node, state, generation + 1) or wanted)
