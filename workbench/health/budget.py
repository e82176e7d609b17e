"""Limit on the number of a pool's nodes that take no work at the same time because of repairs. Pure functions."""

from __future__ import annotations

from collections.abc import Collection

from physical_ai.settings.facts.health import budget


def refusal(pool: str, node: str, nodes: Collection[str], out: Collection[str], in_repair: Collection[str]) -> str:
    """Reason why the repair of a node may not begin now; empty if it may.

    Args:
        nodes: All nodes of the pool.
        out: Nodes that take no work for any reason: cordoned, not ready, tainted by a repair.
        in_repair: Nodes whose repair has not ended. A node that was deleted counts until its successor works.
    """
    others = sorted(set(in_repair) - {node})
    if others:
        return (
            f"{others[0]} of pool {pool} is in repair; one node of a pool is repaired at a time. If nobody goes on with"
            f" that repair: physai node replace {others[0]} resumes it, and with --cancel ends it"
        )
    missing = sorted((set(out) & set(nodes)) - {node})
    most = budget(len(set(nodes) | {node}))
    if len(missing) + 1 > most:
        return (
            f"{', '.join(missing)} of pool {pool} are already out of service; of its {len(nodes)} nodes {most} may be"
            " out at once"
        )
    return ""
