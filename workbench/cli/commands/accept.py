"""The `accept` command: checks GPU nodes before workloads run there, and records the result in the cluster."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.acceptance_levels import AcceptanceLevel
from workbench.cli.console import err, print_json, print_text
from workbench.cli.exit_codes import BAD_INPUT, FAILED, FINDINGS, INTERRUPTED
from workbench.cli.options import DEFAULT_STACK, Assignments, Context, Files, Json, Stack

if TYPE_CHECKING:
    from physical_ai.readiness.client import Send
    from physical_ai.settings import Settings
    from workbench.health.acceptance.record import NodeResult
    from workbench.health.acceptance.running import Target

Pool = Annotated[str | None, typer.Option("--pool", metavar="NAME", help="Only the nodes of this pool.")]
Node = Annotated[str | None, typer.Option("--node", metavar="NAME", help="Only this node.")]
New = Annotated[bool, typer.Option("--new", help="Only nodes that have not passed yet.")]
Collect = Annotated[
    bool,
    typer.Option("--collect", help="Start no Job: evaluate the finished Pods of the CronJobs that the stack declares."),
]
Level = Annotated[
    AcceptanceLevel,
    typer.Option(
        "--level", help="quick: minutes. full: half an hour, on idle nodes. burn-in: full, and dcgmi diag -r 3."
    ),
]
Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write the results as JUnit XML.")]
Kubeconfig = Annotated[
    Path | None,
    typer.Option("--kubeconfig", metavar="FILE", help="Check this cluster instead of the stack's simulated one."),
]


def accept(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    pool: Pool = None,
    node: Node = None,
    new: New = False,
    collect: Collect = False,
    level: Level = "quick",
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    junit: Junit = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Check GPU nodes before workloads run there: runs Jobs on each node, and keeps the results in the cluster; exit
    with 3 if a node did not pass.

    A node that passes is accepted and loses the taint of health.admit. Its figures become its baseline.
    """
    from workbench.cli.cluster_gates import changing_access
    from workbench.cli.deployed_settings import deployed_settings
    from workbench.cli.output.accept import print_results
    from workbench.health.acceptance.junit import junit as junit_xml
    from workbench.health.acceptance.record import document

    settings = deployed_settings(stack, kubeconfig, file, set_)
    cluster, send = changing_access(stack, kubeconfig, settings, context)
    targets = _targets(send, cluster, settings, (pool, node, new))
    results = _run(send, cluster, settings, None if collect else level, targets)
    remedies = {each.node: _fixes(send, each, settings) for each in results}
    if junit is not None:
        _write(junit, junit_xml(results))
    if json:
        nodes = [{**document(each), "fixes": remedies[each.node]} for each in results]
        print_json({"stack": stack, "cluster": cluster, "level": level, "nodes": nodes})
    elif results:
        print_results(results, remedies)
    else:
        print_text(_nothing(new=new, collect=collect))
    if any(not each.passed for each in results):
        raise typer.Exit(FINDINGS)


def _targets(send: Send, cluster: str, settings: Settings, wanted: tuple[str | None, str | None, bool]) -> list[Target]:
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.settings.facts.gpu import amd_pools, nvidia_pools
    from workbench.cli.deployed_settings import other_settings
    from workbench.health.acceptance.choosing import NoNodes, choose, not_ready

    pool, node, new = wanted
    pools = list(nvidia_pools(settings))
    if pool in amd_pools(settings):
        problem = f"acceptance runs programs for NVIDIA's GPUs, and pool {pool} has AMD's; see docs/amd.md"
        err.print(problem, markup=False, style="red")
        raise typer.Exit(BAD_INPUT)
    try:
        nodes = send("GET", "/api/v1/nodes", {})["items"]
        for line in other_settings(nodes, settings):
            err.print(line, markup=False, style="yellow")
        targets = choose(nodes, pools, pool=pool, node=node, new=new)
    except NoNodes as problem:
        err.print(str(problem), markup=False, style="red")
        raise typer.Exit(BAD_INPUT) from None
    except (Unreachable, Unusable) as problem:
        err.print(f"{cluster} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None
    for name in not_ready(nodes, targets, [pool] if pool else pools) if node is None else ():
        err.print(f"{name} is not Ready, and was left out", markup=False, style="yellow")
    return targets


def _run(
    send: Send, cluster: str, settings: Settings, level: AcceptanceLevel | None, targets: list[Target]
) -> list[NodeResult]:
    """Runs the acceptance checks on the targets and returns the results. If `level` is None, nothing is run: the
    results come from Pods that have already run.
    """
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.readiness.reader import Missing
    from workbench.health.acceptance.collecting import collect
    from workbench.health.acceptance.jobs import Stopped
    from workbench.health.acceptance.running import Acceptance

    stop = threading.Event()
    try:
        if level is None:
            return collect(send, settings, targets)
        return Acceptance(send, settings, level, _progress, stop).run(targets)
    except (KeyboardInterrupt, Stopped):
        err.print("interrupted; the Jobs were removed, and unfinished nodes have no new result", style="red")
        raise typer.Exit(INTERRUPTED) from None
    except (Missing, Unreachable, Unusable) as problem:
        err.print(f"{cluster}: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None


def _fixes(send: Send, result: NodeResult, settings: Settings) -> list[str]:
    """Texts about repairs of a node that did not pass, from the findings of `physai why` and `physai evidence`."""
    from physical_ai.readiness import Unreachable, expected_pools
    from physical_ai.readiness.expected import is_existing
    from physical_ai.readiness.nodes.findings import findings_of
    from physical_ai.readiness.nodes.signs import NodeSigns
    from physical_ai.readiness.reader import Missing

    failed = [(each.check, each.message) for each in result.checks if each.verdict not in ("passed", "skipped")]
    try:
        node = send("GET", f"/api/v1/nodes/{result.node}", {}) if failed else None
    except (Missing, Unreachable):
        node = None
    stack, existing = str(settings.stack), is_existing(expected_pools(settings))
    signs = NodeSigns(result.node, node, failed_checks=failed, stack=stack, existing=existing)
    found = findings_of(signs) if failed else ()
    return list(dict.fromkeys(each.fix for each in found))


def _nothing(*, new: bool, collect: bool) -> str:
    if collect:
        return "no CronJob of the stack has checked a node; see health.acceptance\n"
    return "every node has passed\n" if new else "the pools have no nodes\n"


def _progress(node: str, check: str, doing: str) -> None:
    err.print(f"{node} {check}: {doing}", markup=False, style="dim")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise typer.BadParameter(str(problem), param_hint="--junit") from None
