"""Sources of a stack's preview: made in the simulator, or read from the output of `pulumi preview --json` of the real
stack.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from workbench.cli.preview.model import OPERATOR, Deployed, Preview
from workbench.cli.preview.read_back import significant

if TYPE_CHECKING:
    from simulator.run_options import RunOptions
    from simulator.simulation import Simulation
    from workbench.cli.requested_stack import RequestedStack


def simulated_preview(requested: RequestedStack, *, policies: bool, options: RunOptions | None = None) -> Preview:
    """Preview of a stack in the simulator. With `policies`, the policy pack judges the changes.

    No error is raised if the policy pack refuses the changes, or if there are changes although `options` expect none.
    """
    from simulator.errors import ChangesFound, EngineFailed
    from simulator.run_options import RunOptions
    from simulator.simulation import Simulation
    from workbench.cli.policy_pack import PACK, is_refused
    from workbench.cli.progress import Progress
    from workbench.cli.stack_status import node_counts

    simulation = Simulation(requested.input.stack)
    nodes, deployed = node_counts(simulation), deployed_now(simulation)
    progress, unexpected = Progress(), False
    try:
        with progress:
            simulation.preview(requested.input, progress, [PACK] if policies else [], options or RunOptions())
    except ChangesFound:
        unexpected = True
    except EngineFailed:
        if not is_refused(progress.run):
            raise
    return Preview(progress.run, nodes, deployed, unexpected=unexpected and bool(significant(progress.run)))


def deployed_now(simulation: Simulation) -> Deployed:
    """Present deployed state of a simulated stack."""
    from workbench.cli.stack_status import azure_pools

    if not simulation.exists:
        return Deployed(exists=False)
    releases: Mapping[str, Mapping[str, Any]] = simulation.outputs().get("releases") or {}
    version = releases[OPERATOR]["version"] if OPERATOR in releases else None
    return Deployed(exists=True, operator_version=version, pools=tuple(azure_pools(simulation)))


def pulumi_preview(file: Path, *, expect_no_changes: bool = False) -> Preview:
    """A preview that is read from a file with the output of `pulumi preview --json`."""
    from workbench.cli.preview import pulumi_json

    try:
        digest = pulumi_json.parsed(file.read_text())
    except (OSError, ValueError) as problem:
        raise typer.BadParameter(
            f"{file} is not the output of `pulumi preview --json`: {problem}", param_hint="--from"
        ) from None
    run = pulumi_json.run_of(digest)
    unexpected = expect_no_changes and bool(significant(run))
    return Preview(run, pulumi_json.nodes(digest), pulumi_json.deployed(digest), unexpected=unexpected)
