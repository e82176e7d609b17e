"""What is known of a node, for the commands that show it, report it, and repair the node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from physical_ai.cli.console import err
from physical_ai.cli.exit_codes import BAD_INPUT, FAILED

if TYPE_CHECKING:
    from physical_ai.health.evidence.node_evidence import NodeEvidence
    from physical_ai.readiness import Get
    from physical_ai.readiness.nodes.signs import Alert, Seen

WINDOW = "30d"
"""How far back Xids are looked for."""


def node_evidence(get: Get, cluster: str, node: str, signals: tuple[list[Alert], list[Seen]]) -> NodeEvidence:
    """What is known of a node. Ends the command where there is none, or the cluster does not answer."""
    from physical_ai.catalog import nearest
    from physical_ai.health.evidence.read import UnknownNode, read_node_evidence
    from physical_ai.readiness import Unreachable, Unusable

    try:
        return read_node_evidence(get, node, *signals)
    except UnknownNode as unknown:
        near = nearest(node, unknown.known)
        hint = f" Did you mean {near}?" if near else f" Nodes: {', '.join(unknown.known) or 'none'}"
        err.print(f"{cluster} has no node {node}, and no record of one.{hint}", markup=False, style="red")
        raise typer.Exit(BAD_INPUT) from None
    except (Unreachable, Unusable) as problem:
        err.print(f"{cluster} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None


def signals_of(
    stack: str, node: str, kubeconfig: Path | None, prometheus: str | None
) -> tuple[list[Alert], list[Seen]]:
    """Alerts and Xids about a node, from the Prometheus that is named, or the simulated stack's if it runs."""
    from physical_ai.cli.prometheus import PrometheusFailed, ask, simulated_address

    address = prometheus or (None if kubeconfig else simulated_address(stack))
    if address is None:
        return [], []
    from physical_ai.readiness.nodes.signs import Alert, Seen

    xids = f'max by (UUID, gpu, xid) (max_over_time(DCGM_EXP_XID_ERRORS_COUNT{{node="{node}"}}[{WINDOW}])) > 0'
    queries = {"alerts": f'ALERTS{{node="{node}",alertstate="firing"}}', "xids": xids}
    try:
        found = ask(address, queries)
    except PrometheusFailed as problem:
        err.print(str(problem), markup=False, style="yellow")
        return [], []
    alerts = [Alert(each.labels["alertname"], each.labels) for each in found["alerts"]]
    seen = [
        Seen(int(each.labels["xid"]), "metric", each.labels.get("UUID") or each.labels.get("gpu", ""))
        for each in found["xids"]
        if each.labels.get("xid", "").isdigit()
    ]
    return alerts, seen
