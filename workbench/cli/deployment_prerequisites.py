"""Prerequisites of a first deployment, with the versions that this checkout pins."""

from __future__ import annotations

import shutil
from importlib import metadata
from typing import TYPE_CHECKING

from workbench.cli.console import print_json

if TYPE_CHECKING:
    from workbench.cli.requested_stack import RequestedStack


def pinned() -> dict[str, str]:
    """Pinned versions of the programs that a person has to install, by name."""
    from simulator.tools.families import KUBELOGIN

    return {"pulumi": metadata.version("pulumi"), "kubelogin": KUBELOGIN.version()}


def list_prerequisites(stack: str, requested: RequestedStack, *, json: bool) -> None:
    """Prints what the stack needs before its first deployment to Azure.

    Raises typer.BadParameter for a stack on an existing cluster, which has no such prerequisites.
    """
    import typer

    from physical_ai.settings.facts.created import creates_cluster
    from workbench.cli.declared_needs import foreign_of
    from workbench.cli.output.prerequisites import document, print_all
    from workbench.preflight.prerequisites import OWN, not_needed, prerequisites

    settings = requested.loaded.settings
    if not creates_cluster(settings):
        problem = f"{stack} is installed in a cluster that exists; docs/existing-clusters.md has what it needs"
        raise typer.BadParameter(problem, param_hint="--prerequisites")
    needed = prerequisites(settings, pinned(), shutil.which, foreign_of(requested, OWN))
    others = not_needed(settings)
    if json:
        print_json(document(stack, needed, others))
    else:
        print_all(stack, needed, others)
