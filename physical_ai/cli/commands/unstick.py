"""The `unstick` command: names what a run left unfinished in state and cluster, and repairs it step by step."""

from __future__ import annotations

import json as json_format
import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from physical_ai.cli.console import err, print_json, print_text
from physical_ai.cli.exit_codes import FAILED, FINDINGS
from physical_ai.cli.options import DEFAULT_STACK, Json, Stack

if TYPE_CHECKING:
    from physical_ai.cli.unstick_plan import Repair

LOCKED = "the stack is currently locked"
"""In the engine's refusal of a run while another one holds the lock."""
Kubeconfig = Annotated[
    Path | None,
    typer.Option("--kubeconfig", metavar="FILE", help="Repair this cluster's stack instead of the simulated one."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing, and do every step.")]


def unstick(stack: Stack = DEFAULT_STACK, kubeconfig: Kubeconfig = None, yes: Yes = False, json: Json = False) -> None:
    """Name what a killed run left behind, and repair it: a lock, unfinished operations, stuck Helm releases.

    Asks before each step. With --json it changes nothing, and exits with 3 if something is stuck.
    """
    from physical_ai.cli.cluster_gates import real_cluster, simulated_cluster
    from physical_ai.cli.requested_stack import read_stack
    from physical_ai.cli.unstick_plan import repairs, unlock
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.readiness.releases import stuck_releases
    from physical_ai.simulator.simulation import Simulation

    loaded = read_stack(stack).loaded
    locks: list[dict[str, Any]] = []
    if kubeconfig:
        target = real_cluster(kubeconfig, loaded.settings)
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    else:
        target = simulated_cluster(stack, loaded.settings)
        simulation = Simulation(stack)
        environment = {**os.environ, **simulation.environment()}
        locks = simulation.locks()
    releases = {"gpu-operator": "gpu-operator", **{each.name: each.namespace for each in loaded.plan.osmo}}
    try:
        stuck = stuck_releases(target.get, releases)
    except (Unreachable, Unusable) as problem:
        err.print(f"{target.name} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None
    found = repairs(stack, _deployment(stack, environment), stuck, locks)
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
        output = _run(each, environment)
        # A backend in a storage account shows its locks only to a run that it refuses.
        if output is not None and LOCKED in output and _is_agreed(unlock(stack), yes=yes):
            output = _run(unlock(stack), environment) or _run(each, environment)
        if output is not None:
            raise typer.Exit(FAILED)


def _is_agreed(repair: Repair, *, yes: bool) -> bool:
    print_text(f"{repair.problem}\n  {shlex.join(repair.command)}\n  {repair.effect}\n")
    return yes or typer.confirm("do it?", default=False, err=True)


def _run(repair: Repair, environment: Mapping[str, str]) -> str | None:
    """The output of a step that failed; None for one that succeeded."""
    ran = subprocess.run(repair.command, env=environment, capture_output=True, text=True, check=False)
    print_text(ran.stdout)
    if ran.returncode:
        err.print(ran.stderr.strip(), markup=False, style="red")
    return ran.stdout + ran.stderr if ran.returncode else None


def _deployment(stack: str, environment: Mapping[str, str]) -> Mapping[str, Any]:
    """The stack's state as the engine exports it. Ends the command where there is none."""
    command = ["pulumi", "stack", "export", "--stack", stack]
    try:
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        err.print("pulumi is not on PATH", style="red")
        raise typer.Exit(FAILED) from None
    if ran.returncode:
        err.print(f"the state of {stack} cannot be read: {ran.stderr.strip()}", markup=False, style="red")
        raise typer.Exit(FAILED)
    return json_format.loads(ran.stdout)["deployment"]
