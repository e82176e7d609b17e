"""The `unstick` command: shows what an interrupted run has left unfinished in state and cluster, and repairs it step by
step.
"""

from __future__ import annotations

import json as json_format
import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli.console import doing, err, print_json, print_text
from workbench.cli.exit_codes import FAILED, FINDINGS
from workbench.cli.options import DEFAULT_STACK, Context, Json, Stack

if TYPE_CHECKING:
    from physical_ai.readiness.releases import StuckRelease
    from physical_ai.settings import Loaded
    from workbench.cli.cluster_gates import ClusterTarget
    from workbench.cli.unstick_repairs import Repair

LOCKED = "the stack is currently locked"
"""Text in the engine's error if another run holds the lock of the stack."""
Kubeconfig = Annotated[
    Path | None,
    typer.Option("--kubeconfig", metavar="FILE", help="Repair this cluster's stack instead of the simulated one."),
]
StateOnly = Annotated[
    bool,
    typer.Option(
        "--state-only",
        help="Ignore Helm releases, and repair the stack that `pulumi` is logged in to, before a cluster exists.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Perform every step without prompting.")]


def unstick(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    state_only: StateOnly = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Show and repair what a killed run left behind: a lock, unfinished operations, stuck Helm releases.

    What that run has created, in Azure or in the cluster, is added to the state. Prompts before each step. With --json
    it changes nothing, and exits with 3 if something is stuck.
    """
    from workbench.cli.cluster_gates import needs_kubeconfig, real_cluster, simulated_cluster
    from workbench.cli.requested_stack import read_stack
    from workbench.cli.simulated_stack import simulation_of
    from workbench.cli.unstick_repairs import repairs, unlock

    if kubeconfig and state_only:
        raise typer.BadParameter("a cluster is read for its Helm releases, so omit one", param_hint="--state-only")
    loaded = read_stack(stack).loaded
    target: ClusterTarget | None = None
    environment, locks = dict(os.environ), list[dict[str, Any]]()
    if kubeconfig:
        target = real_cluster(kubeconfig, loaded.settings, context)
        environment |= _of_file(kubeconfig, loaded, context)
    elif not state_only:
        needs_kubeconfig(context)
        simulation = simulation_of(stack)
        environment |= simulation.environment()
        locks = simulation.locks()
        if not simulation.exists or simulation.clusters().ids():
            target = simulated_cluster(stack, loaded.settings)
    with doing(f"reading the Helm releases, and the state of {stack}"):
        stuck = _stuck_releases(target, loaded) if target else []
        found = repairs(stack, _exported(stack, environment)["deployment"], stuck, locks)
    if json:
        print_json({"stack": stack, "repairs": [each.document() for each in found]})
        if found:
            raise typer.Exit(FINDINGS)
        return
    if not found:
        print_text("nothing is stuck\n")
    for each in found:
        if not _is_agreed(each, yes=yes):
            continue
        output = _run(each, stack, environment)
        # Locks in a storage account are only shown in the error of a run that they block.
        if output is not None and LOCKED in output and _is_agreed(unlock(stack), yes=yes):
            output = _run(unlock(stack), stack, environment) or _run(each, stack, environment)
        if output is not None:
            raise typer.Exit(FAILED)


def _of_file(kubeconfig: Path, loaded: Loaded, context: str | None) -> dict[str, str]:
    """Environment variables with which helm uses the cluster of this kubeconfig."""
    from workbench.cli.cluster_gates import chosen_context

    chosen = chosen_context(loaded.settings, context)
    return {"KUBECONFIG": str(kubeconfig)} | ({"HELM_KUBECONTEXT": chosen} if chosen is not None else {})


def _stuck_releases(target: ClusterTarget, loaded: Loaded) -> list[StuckRelease]:
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.readiness.releases import stuck_releases
    from physical_ai.settings.facts.gpu import installs_operator

    # An operator that was in the cluster before the stack is repaired by its owner.
    operator = {"gpu-operator": "gpu-operator"} if installs_operator(loaded.settings) else {}
    releases = {**operator, **{each.name: each.namespace for each in loaded.plan.osmo}}
    try:
        return stuck_releases(target.get, releases)
    except (Unreachable, Unusable) as problem:
        err.print(f"{target.name} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None


def _is_agreed(repair: Repair, *, yes: bool) -> bool:
    commands = "".join(f"  {shlex.join(each.words)}\n" for each in repair.commands)
    print_text(f"{repair.problem}\n{commands}  {repair.effect}\n")
    return yes or typer.confirm("do it?", default=False, err=True)


def _run(repair: Repair, stack: str, environment: Mapping[str, str]) -> str | None:
    """Runs the commands of a repair. Returns the output of the command that failed, or None if all succeeded."""
    for command in repair.commands:
        given = ""
        if command.edit is not None:
            exported = _exported(stack, environment)
            given = json_format.dumps({**exported, "deployment": command.edit(exported["deployment"])})
        ran = subprocess.run(command.words, env=environment, input=given, capture_output=True, text=True, check=False)
        print_text(ran.stdout)
        if ran.returncode:
            err.print(ran.stderr.strip(), markup=False, style="red")
            return ran.stdout + ran.stderr
    return None


def _exported(stack: str, environment: Mapping[str, str]) -> Mapping[str, Any]:
    """The stack's state as the engine exports it, with secrets encrypted. Ends the command if there is none."""
    command = ["pulumi", "stack", "export", "--stack", stack]
    try:
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        err.print("pulumi is not on PATH", style="red")
        raise typer.Exit(FAILED) from None
    if ran.returncode:
        err.print(f"the state of {stack} cannot be read: {ran.stderr.strip()}", markup=False, style="red")
        raise typer.Exit(FAILED)
    return json_format.loads(ran.stdout)
