"""Commands of the simulator: up, preview, down, status, env."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from physical_ai.cli.console import err, out, print_json
from physical_ai.cli.options import DEFAULT_STACK, Assignments, Files, Json, Stack

if TYPE_CHECKING:
    from physical_ai.cli.preview.changes import Run
    from physical_ai.cli.stack_input import Given
    from physical_ai.simulator.simulation import Simulation

Picture = Annotated[
    Path | None,
    typer.Option("--picture", metavar="FILE", help="Draw cluster, pools, nodes and GPUs into this SVG."),
]


class Format(StrEnum):
    """How a preview is told."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


FormatOption = Annotated[
    Format, typer.Option("--format", help="text: the changes. markdown, json: with policies, versions and cost too.")
]
FromOption = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Tell what `pulumi preview --json` printed of the real stack instead."),
]
RunOption = Annotated[
    list[Path] | None,
    typer.Option("--run", metavar="FILE", help="Then run this OSMO workflow on it, as `physai run` does; repeatable."),
]
Discard = Annotated[
    bool,
    typer.Option("--discard", help="Remove the simulation without a destroy: for a protected or a broken one."),
]

Policies = Annotated[
    bool, typer.Option("--policies", help="Ask the policy pack about each resource; 3 where it refuses.")
]


def up(
    stack: Stack = DEFAULT_STACK,
    file: Files = None,
    set_: Assignments = None,
    run: RunOption = None,
    json: Json = False,
) -> None:
    """Deploy a stack into the simulator: the real engine, a real API server, simulated Azure and GPUs."""
    from physical_ai.cli import stack_input
    from physical_ai.cli import status as status_
    from physical_ai.cli.commands.lint import workflow_files
    from physical_ai.cli.commands.run import COMPLETED, run_files
    from physical_ai.cli.preview.plan import counted
    from physical_ai.cli.progress import Progress
    from physical_ai.simulator.simulation import Simulation

    given = stack_input.read(stack, file or [], set_ or [])
    workflows = workflow_files(run or [], "--run")
    simulation = Simulation(stack)
    with Progress() as progress:
        simulation.up(given.input, progress)
    ended = run_files(simulation, workflows) if workflows else []
    document = status_.status(simulation)
    changes = dict(progress.run.counts())
    if json:
        print_json({**document, "changes": changes, "seconds": progress.seconds})
        _exit_unless(all(each["status"] == COMPLETED for each in ended))
        return
    out.print(status_.render(document))
    seconds = sum(progress.seconds.values())
    err.print(f"[bold green]up[/] {counted(changes)} in {seconds:.0f} s; [dim]`physai down {stack}` takes it down[/]")
    _exit_unless(all(each["status"] == COMPLETED for each in ended))


def preview(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    policies: Policies = False,
    file: Files = None,
    set_: Assignments = None,
    format: FormatOption = Format.TEXT,
    from_: FromOption = None,
    json: Json = False,
) -> None:
    """Show what `up` would change in the simulated stack, and change nothing.

    With --format markdown or json also what the policies, the versions and the price list say of it.
    """
    from physical_ai.cli import stack_input
    from physical_ai.cli.commands import policy as policy_
    from physical_ai.cli.preview import markdown, plan, review

    if policies and from_ is not None:
        raise typer.BadParameter("the policy pack is asked by a preview of its own; leave --from out")
    given = stack_input.read(stack, file or [], set_ or [])
    run, nodes, was = _previewed(given, policies=policies) if from_ is None else _read_preview(from_)
    if json:
        refusals = {"policies": policy_.refusals_document(run)} if policies else {}
        print_json({"stack": stack, **plan.document(run, nodes), **refusals})
    elif format is Format.TEXT:
        out.print(plan.render(run, nodes))
        policy_.render_refusals(run)
    else:
        document = review.document(given, run, was, nodes)
        if format is Format.JSON:
            print_json(document)
        else:
            print(markdown.stack(document))
    if policy_.stops(run):
        raise typer.Exit(policy_.FINDINGS)


def _previewed(given: Given, *, policies: bool) -> tuple[Run, dict[str, int], dict[str, Any]]:
    """A preview in the simulator, the nodes of each pool, and what was deployed before."""
    from physical_ai.cli import status as status_
    from physical_ai.cli.commands import policy as policy_
    from physical_ai.cli.preview import review
    from physical_ai.cli.progress import Progress
    from physical_ai.simulator.errors import EngineFailed
    from physical_ai.simulator.simulation import Simulation

    simulation = Simulation(given.input.stack)
    nodes, was = status_.node_counts(simulation), review.before(simulation)
    progress = Progress()
    try:
        with progress:
            simulation.preview(given.input, progress, [policy_.PACK] if policies else [])
    except EngineFailed:
        if not policy_.stops(progress.run):
            raise
    return progress.run, nodes, was


def _read_preview(file: Path) -> tuple[Run, dict[str, int], dict[str, Any]]:
    """The same of a preview that `pulumi` made."""
    from physical_ai.cli.preview import pulumi_json as digest

    try:
        found = digest.parsed(file.read_text())
    except (OSError, ValueError) as problem:
        raise typer.BadParameter(
            f"{file} is not what `pulumi preview --json` prints: {problem}", param_hint="--from"
        ) from None
    return digest.run_of(found), digest.nodes(found), digest.before(found)


def down(stack: Stack = DEFAULT_STACK, discard: Discard = False, json: Json = False) -> None:
    """Destroy the simulated stack; no process and no file of it is left."""
    from physical_ai.cli.preview.plan import counted
    from physical_ai.cli.progress import Progress

    simulation = simulation_of(stack)
    existed = simulation.exists
    with Progress() as progress:
        if discard:
            simulation.discard()
        else:
            simulation.down(progress)
    changes = dict(progress.run.counts())
    if json:
        print_json({"stack": stack, "existed": existed, "changes": changes, "seconds": progress.seconds})
    elif not existed:
        err.print(f"{stack} is not simulated; nothing to do")
    else:
        seconds = sum(progress.seconds.values())
        err.print(f"[bold green]down[/] {'discarded' if discard else counted(changes)} in {seconds:.0f} s")


def status(stack: Stack = DEFAULT_STACK, picture: Picture = None, json: Json = False) -> None:
    """Show the simulated stack: pools, sizes, nodes, labels, taints, driver source."""
    from physical_ai.cli import status as status_
    from physical_ai.cli.preview import picture as picture_

    document = status_.status(simulation_of(stack))
    if picture is not None:
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_text(picture_.picture(document))
    if json:
        print_json(document)
    else:
        out.print(status_.render(document))


def env(stack: Stack = DEFAULT_STACK, json: Json = False) -> None:
    """Print shell lines that point kubectl and pulumi at the simulated stack: eval "$(physai env)".

    `pulumi` reads it: stack, stack output, stack export, stack history. Only `physai` can change or preview it.
    """

    variables = simulation_of(stack).environment()
    if json:
        print_json(variables)
        return
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")  # never wrapped: a shell reads it


def tools() -> None:
    """Build the engine and control-plane commands ahead of the first `up`."""
    from physical_ai.cli.progress import Progress
    from physical_ai.simulator.home import Home
    from physical_ai.simulator.tools import toolbox

    home = Home.of_user()
    with Progress() as progress:
        progress.phase("tools")
        toolbox(home.tools, progress.tool)
    err.print(f"all commands are in {home.tools}")


def _exit_unless(succeeded: bool) -> None:
    if not succeeded:
        raise typer.Exit(1)


def simulation_of(stack: str) -> Simulation:
    """The simulation of a stack that has a file, or is simulated still though its file is gone."""
    from physical_ai.settings import StackName, existing, load
    from physical_ai.simulator.simulation import Simulation

    simulation = Simulation(str(StackName.parse(stack)))
    if not simulation.exists and stack not in existing():
        load(stack)  # says what is wrong with the name
    return simulation
