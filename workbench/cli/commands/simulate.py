"""Commands of the simulator: up, preview, down, status, env, tools."""

from __future__ import annotations

import os
import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from workbench.cli.console import err, out, print_foreign_json, print_json
from workbench.cli.exit_codes import FAILED
from workbench.cli.options import (
    DEFAULT_STACK,
    DEPLOYER_NAME,
    As,
    Assignments,
    ContinueOnError,
    ExcludeDependents,
    Excludes,
    Files,
    Json,
    NoRecovery,
    Refresh,
    Stack,
    TargetDependents,
    Targets,
)
from workbench.cli.replaying import Replayed, replay
from workbench.cli.run_options import principal_named, run_options
from workbench.cli.work_limit import MaxLost, WaitForOption, WaitHours, hold

Picture = Annotated[
    Path | None,
    typer.Option("--picture", metavar="FILE", help="Draw the cluster, its pools, nodes and GPUs into this SVG file."),
]
RunOption = Annotated[
    list[Path] | None,
    typer.Option("--run", metavar="FILE", help="Then run this OSMO workflow on it, like `physai run`; repeatable."),
]


class KubernetesPlugin(StrEnum):
    """Plugin that runs the Kubernetes resources of a simulated stack."""

    STAND_IN = "stand-in"
    OFFICIAL = "official"


KubernetesPluginOption = Annotated[
    KubernetesPlugin | None,
    typer.Option(
        "--kubernetes-plugin",
        help="official: Pulumi's own plugin, if installed (see `physai tools`). Fixed by the first `up`.",
    ),
]

TelemetryOption = Annotated[
    bool,
    typer.Option(
        "--telemetry", help="Also run Prometheus and Alertmanager, with the stack's alert rules: `physai alerts`."
    ),
]
TOOLS_FROM = "PHYSAI_TOOLS_FROM"
"""Environment variable that `simulator.tools.install` reads. Its name is repeated here, so that the module need not be
imported for the command's options.
"""
ToolsFrom = Annotated[
    Literal["auto", "release", "build"],
    typer.Option(
        "--from",
        envvar=TOOLS_FROM,
        help="release: download from the projects, or fail. build: compile the Go modules. auto: download where the"
        " server can be reached and every checksum fits, else compile.",
    ),
]

WithTelemetry = Annotated[
    bool, typer.Option("--telemetry", help="Also Prometheus, Alertmanager and promtool, built from their Go modules.")
]

ForDelivery = Annotated[
    bool, typer.Option("--delivery", help="Only what a pipeline runs to deploy to Azure: helm and kubelogin.")
]


def up(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    file: Files = None,
    set_: Assignments = None,
    refresh: Refresh = False,
    target: Targets = None,
    target_dependents: TargetDependents = False,
    exclude: Excludes = None,
    exclude_dependents: ExcludeDependents = False,
    continue_on_error: ContinueOnError = False,
    as_: As = DEPLOYER_NAME,
    no_recovery: NoRecovery = False,
    run: RunOption = None,
    telemetry: TelemetryOption = False,
    kubernetes_plugin: KubernetesPluginOption = None,
    from_: Replayed = None,
    max_lost: MaxLost = None,
    wait_for: WaitForOption = None,
    wait_hours: WaitHours = 24,
    json: Json = False,
) -> None:
    """Deploy a stack to the simulator on this machine.

    The Pulumi engine and the Kubernetes API server are real; Azure, virtual machines and GPUs are simulated.
    """
    if from_ is not None:
        replay(from_, stack, (file, set_, refresh, target, exclude, run, telemetry), as_json=json)
        return
    from simulator.simulation import Simulation
    from workbench.cli.output import status as output
    from workbench.cli.output import workflows
    from workbench.cli.preview.change_list import done
    from workbench.cli.progress import Progress
    from workbench.cli.requested_stack import read_stack
    from workbench.cli.simulated_telemetry import missing_counters, start_telemetry
    from workbench.cli.stack_status import status_document
    from workbench.cli.workflows import gateway_check
    from workbench.cli.workflows.files import workflow_files
    from workbench.cli.workflows.runner import run_files
    from workbench.osmo.workflow.rendering import Variables

    requested = read_stack(stack, file, set_)
    options = run_options(
        as_,
        target,
        exclude,
        target_dependents=target_dependents,
        exclude_dependents=exclude_dependents,
        continue_on_error=continue_on_error,
        refresh=refresh,
        recover=not no_recovery,
        kubernetes_plugin=kubernetes_plugin.value if kubernetes_plugin else None,
    )
    files = workflow_files(run or [], "--run")
    simulation = Simulation(stack)
    hold(requested, options, max_lost, wait_for, wait_hours)
    with Progress() as progress:
        simulation.up(requested.input, progress, options)
        if telemetry or simulation.telemetry.is_running():
            start_telemetry(simulation, requested.loaded.settings, progress)
    if telemetry and (missing := missing_counters(requested.loaded.settings)):
        err.print(missing, markup=False, style="yellow")
    refused = gateway_check.check_refusal(simulation, requested.loaded.settings, next(iter(files))) if files else None
    ended = run_files(simulation, files, None, Variables(), options.principal) if files else []
    document = status_document(simulation)
    changes = dict(progress.run.counts())
    if json:
        tried = {"refusedAtFrontDoor": refused} if files else {}
        print_json({**document, **tried, "changes": changes, "seconds": progress.seconds})
    else:
        out.print(output.render(document))
        for line in gateway_check.described(ended, refused) if files else ():
            out.print(line, markup=False, highlight=False)
        seconds = sum(progress.seconds.values())
        err.print(f"[bold green]up[/] {done(changes)} in {seconds:.0f} s; [dim]remove it with `physai down {stack}`[/]")
    if not workflows.succeeded(ended):
        raise typer.Exit(FAILED)


def status(stack: Stack = DEFAULT_STACK, picture: Picture = None, json: Json = False) -> None:
    """Show the simulated stack: pools, nodes, GPUs, labels, taints, releases and workflows."""
    from workbench.cli.output import status as output
    from workbench.cli.preview.picture import picture as drawn
    from workbench.cli.simulated_stack import simulation_of
    from workbench.cli.stack_status import status_document

    document = status_document(simulation_of(stack))
    if picture is not None:
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_text(drawn(document))
    if json:
        print_json(document)
    else:
        out.print(output.render(document))


def env(stack: Stack = DEFAULT_STACK, as_: As = DEPLOYER_NAME, json: Json = False) -> None:
    """Print shell variables for kubectl and pulumi on the simulated stack: eval "$(physai env)".

    With them, `pulumi` can read the stack (stack, stack output, stack export, stack history), refresh it and destroy
    it. Only `physai` can run the program: up and preview.
    """
    from workbench.cli.progress import Progress
    from workbench.cli.simulated_stack import simulation_of

    variables = simulation_of(stack).environment(principal_named(as_), Progress().tool)
    if json:
        print_foreign_json(variables)
        return
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")  # never wrapped: a shell reads it


def tools(origin: ToolsFrom = "auto", telemetry: WithTelemetry = False, delivery: ForDelivery = False) -> None:
    """Install the engine and control-plane programs before the first `up`.

    Each is its project's own release, verified, or built from its Go module where the release cannot be had.
    With --delivery, print the folders of the programs, for PATH.
    """
    from simulator.home import Home
    from simulator.kubernetes.provider import VERSION
    from simulator.kubernetes_plugin import PATH_VARIABLE, installed
    from simulator.tools import DELIVERY, FAMILIES, KUBECTL, TELEMETRY, toolbox
    from simulator.tools.install import Origin
    from workbench.cli.progress import Progress

    home = Home.of_user()
    with Progress() as progress:
        progress.phase("tools")
        families = DELIVERY if delivery else (*FAMILIES, KUBECTL, *(TELEMETRY if telemetry else ()))
        found = toolbox(home.tools, progress.tool, families, Origin(origin))
    if delivery:
        for folder in found.folders:
            out.print(str(folder), soft_wrap=True, highlight=False, markup=False)
        return
    err.print(f"all programs are in {home.tools}")
    official = installed(os.environ)
    missing = f"not on this machine; the simulator uses its stand-in ({PATH_VARIABLE} names it elsewhere)"
    err.print(f"official Kubernetes plugin {VERSION}: {official or missing}", soft_wrap=True)
