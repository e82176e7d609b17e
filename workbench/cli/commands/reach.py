"""The `reach` command: which parts of a stack can connect to each other, and the rule that decides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.console import err, print_json
from workbench.cli.exit_codes import BAD_INPUT, FAILED, FINDINGS
from workbench.cli.given_firewalls import FirewallFiles, given_firewalls, unused
from workbench.cli.options import DEFAULT_STACK, Assignments, BeforeAzure, Context, Files, Json, Kubeconfig, Stack
from workbench.cli.recorded import From as Recording
from workbench.cli.recorded import opened

if TYPE_CHECKING:
    from workbench.cli.cluster_gates import ClusterTarget
    from workbench.cli.recorded import Recorded
    from workbench.policies import Stack as Declared
    from workbench.policies.flows.world import World

From = Annotated[str | None, typer.Argument(metavar="FROM", help="Source of the connection, such as task or internet.")]
To = Annotated[str | None, typer.Argument(metavar="TO", help="Target of the connection, such as database or gateway.")]
Port = Annotated[
    list[int] | None, typer.Option("--port", metavar="NUMBER", help="With FROM and TO: this port; repeatable.")
]
Udp = Annotated[bool, typer.Option("--udp", help="With --port: ask about UDP instead of TCP.")]
Picture = Annotated[
    Path | None,
    typer.Option("--picture", metavar="FILE", help="Also write a diagram in Mermaid's notation, as FILE.mmd."),
]


FOREIGN_CLUSTER = "The cluster is not the stack's: its network is not known, and NetworkPolicies count as enforced."


def reach(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    source: From = None,
    target: To = None,
    port: Port = None,
    udp: Udp = False,
    preview: BeforeAzure = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    file: Files = None,
    set_: Assignments = None,
    firewall: FirewallFiles = None,
    picture: Picture = None,
    from_: Recording = None,
    json: Json = False,
) -> None:
    """Show which connections of a stack are open, which are closed, and the rule that decides each. Exit with 3 if a
    needed connection is closed, or a forbidden one is open.

    Without FROM and TO: every declared flow. With both: each step between them. The stack's declaration is read, and
    with --kubeconfig the cluster's Pods, Services and policies; nothing is sent.
    """
    from workbench.cli.output import reach as output
    from workbench.policies.flows.asking import Unasked, ask
    from workbench.policies.flows.judging import judge_world

    if source is not None and target is None:
        raise typer.BadParameter(f"name what {source} connects to: physai reach {stack} {source} TO", param_hint="TO")
    if source is None and (port or udp):
        raise typer.BadParameter("name FROM and TO as well", param_hint="--port" if port else "--udp")
    if any(not 0 < each < 65536 for each in port or ()):
        raise typer.BadParameter("a port is a number from 1 to 65535", param_hint="--port")
    recorded = None
    if from_ is not None:
        recorded = opened(from_, stack, kubeconfig=kubeconfig, context=context, preview=preview)
        stack = recorded.stack
    world, notes = _world(
        stack, file, set_, (kubeconfig, context), preview=preview, recorded=recorded, firewalls=firewall or ()
    )
    notes += unused(world)
    try:
        if source is None or target is None:
            judged = judge_world(world)
        else:
            judged = ask(world, source, target, port or (), "UDP" if udp else "TCP")
    except Unasked as problem:
        err.print(str(problem), markup=False, style="red", soft_wrap=True)
        raise typer.Exit(BAD_INPUT) from None
    if picture is not None:
        _draw(picture, output.diagram(judged, steps=source is not None))
    cluster = str(from_ or kubeconfig) if from_ or kubeconfig else None
    if json:
        print_json(output.document(stack, judged, notes, cluster))
    elif source is None:
        output.print_table(stack, judged, notes)
    else:
        output.print_steps(judged, notes)
    if any(not each.holds for each in judged):
        raise typer.Exit(FINDINGS)


def _world(
    stack: str,
    file: list[Path] | None,
    set_: list[str] | None,
    access: tuple[Path | None, str | None],
    *,
    preview: bool,
    recorded: Recorded | None = None,
    firewalls: Sequence[Path] = (),
) -> tuple[World, list[str]]:
    """Facts that decide about the stack's connections, and lines of text about facts that are not known."""
    from workbench.cli.cluster_gates import real_cluster
    from workbench.cli.policy_pack import declared_or_exit, read_declared
    from workbench.policies.flows.firewall_bodies import resources_of
    from workbench.policies.flows.network_policies import Engine
    from workbench.policies.flows.world import read

    others = given_firewalls(firewalls)
    if recorded is None:
        requested, declared = read_declared(stack, file, set_, preview=preview)
    else:
        # Addresses of the recording are not those of the checkout.
        requested = recorded.requested(file, set_)
        declared = declared_or_exit(requested, preview=preview)
        others += resources_of(each["body"] for each in recorded.recording.of("azure"))
    declared = replace(declared, resources=(*declared.resources, *others))
    kubeconfig, context = access
    if recorded is not None:
        return _live(declared, recorded.target(requested.loaded))
    if kubeconfig is not None:
        return _live(declared, real_cluster(kubeconfig, requested.loaded.settings, context))
    if context is not None:
        raise typer.BadParameter("name the file that has it with --kubeconfig", param_hint="--context")
    world = read(declared.resources)
    unknown = world.cluster is None and world.ground.engine is Engine.UNKNOWN
    return world, [FOREIGN_CLUSTER] if unknown else []


def _live(declared: Declared, target: ClusterTarget) -> tuple[World, list[str]]:
    from physical_ai.readiness import Unreachable, Unusable
    from workbench.cli.live_reach import live_world

    try:
        return live_world(declared, target.get)
    except (Unreachable, Unusable) as problem:
        err.print(f"{target.name} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None


def _draw(file: Path, text: str) -> None:
    if file.suffix != ".mmd":
        raise typer.BadParameter(
            f"{file}: only Mermaid is drawn; write {file.with_suffix('.mmd')}.", param_hint="--picture"
        )
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise typer.BadParameter(
            f"{file}: {problem.strerror}; write the path of a file in a folder that exists.", param_hint="--picture"
        ) from None
