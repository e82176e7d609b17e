"""Evidence about a node, for the commands that show it, report it to Azure, or repair the node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from workbench.cli.console import err
from workbench.cli.exit_codes import BAD_INPUT, FAILED

if TYPE_CHECKING:
    from physical_ai.readiness import ClosedGate, Expected, Get
    from workbench.cli.cluster_gates import ClusterTarget
    from workbench.cli.prometheus_signs import Signals
    from workbench.health.evidence.node_evidence import NodeEvidence


def node_evidence(target: ClusterTarget, node: str, signals: Signals, stack: str) -> NodeEvidence:
    """Evidence about a node. Ends the command if the node does not exist, or the cluster does not answer."""
    from physical_ai.catalog import nearest
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.readiness.expected import is_existing
    from workbench.health.evidence.read import UnknownNode, read_node_evidence

    try:
        gates, refused = closed_gates(target.get, target.expected)
        own, unread = signals.of(node), (*signals.not_read(node), *refused)
        existing = is_existing(target.expected)
        return read_node_evidence(target.get, node, *own, gates=gates, stack=stack, existing=existing, unread=unread)
    except UnknownNode as unknown:
        near = nearest(node, unknown.known)
        hint = f" Did you mean {near}?" if near else f" Nodes: {', '.join(unknown.known) or 'none'}"
        err.print(f"{target.name} has no node {node}, and no record of one.{hint}", markup=False, style="red")
        raise typer.Exit(BAD_INPUT) from None
    except (Unreachable, Unusable) as problem:
        err.print(f"{target.name} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None


def closed_gates(get: Get, expected: Sequence[Expected]) -> tuple[list[ClosedGate], tuple[str, ...]]:
    """The first closed gate of each node, and texts about evidence that the login may not read."""
    from physical_ai.readiness import read_reports

    reports = read_reports(get, expected)
    unread = dict.fromkeys(each for report in reports for each in report.unread)
    return [gate for report in reports for gate in report.closed], tuple(unread)


def no_fault(node: str, findings: Sequence[Mapping[str, Any]], unread: Sequence[str]) -> NoReturn:
    """Ends the command for a node without a known fault. The message names the options --reboot and --replace, which
    repair the node nevertheless.
    """
    lines = [f"Nothing that is known of {node} speaks for a restart or another machine."]
    for each in findings:
        lines += [f"  {each['cause']}: {each['reason']}", f"    do: {each['fix']}"]
    lines += [f"Not read: {each}." for each in unread]
    lines.append("To do it anyway, add --reboot or --replace.")
    err.print("\n".join(lines), markup=False, style="yellow")
    raise typer.Exit(BAD_INPUT)
