"""The `unstick` command: names what a run left unfinished in state and cluster, and repairs it step by step."""

from __future__ import annotations

import json as json_format
import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from physical_ai.cli.console import err, print_json, print_text
from physical_ai.cli.exit_codes import FAILED, FINDINGS
from physical_ai.cli.options import DEFAULT_STACK, Json, Stack

Kubeconfig = Annotated[
    Path | None,
    typer.Option("--kubeconfig", metavar="FILE", help="Repair this cluster's stack instead of the simulated one."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing, and do every step.")]


def unstick(stack: Stack = DEFAULT_STACK, kubeconfig: Kubeconfig = None, yes: Yes = False, json: Json = False) -> None:
    """Name what a killed run left behind, and repair it: unfinished operations in the state, stuck Helm releases.

    Asks before each step. With --json it changes nothing, and exits with 3 if something is stuck.
    """
    from physical_ai.cli.cluster_gates import real_cluster, simulated_cluster
    from physical_ai.cli.requested_stack import read_stack
    from physical_ai.cli.unstick_plan import repairs
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.readiness.releases import stuck_releases
    from physical_ai.simulator.simulation import Simulation

    loaded = read_stack(stack).loaded
    if kubeconfig:
        target = real_cluster(kubeconfig, loaded.settings)
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    else:
        target = simulated_cluster(stack, loaded.settings)
        environment = {**os.environ, **Simulation(stack).environment()}
    releases = {"gpu-operator": "gpu-operator", **{each.name: each.namespace for each in loaded.plan.osmo}}
    try:
        stuck = stuck_releases(target.get, releases)
    except (Unreachable, Unusable) as problem:
        err.print(f"{target.name} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None
    found = repairs(stack, _deployment(stack, environment), stuck)
    if json:
        print_json({"stack": stack, "repairs": [each.document() for each in found]})
        if found:
            raise typer.Exit(FINDINGS)
        return
    if not found:
        print_text("nothing is stuck\n")
    for each in found:
        print_text(f"{each.problem}\n  {shlex.join(each.command)}\n  {each.effect}\n")
        if not yes and not typer.confirm("do it?", default=False, err=True):
            continue
        if subprocess.run(each.command, env=environment, check=False).returncode:
            raise typer.Exit(FAILED)


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
