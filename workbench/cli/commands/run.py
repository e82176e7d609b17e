"""The `run` command: OSMO workflows on a simulated stack."""

from __future__ import annotations

from typing import Annotated

import typer

from workbench.cli.console import out, print_json
from workbench.cli.exit_codes import FAILED
from workbench.cli.options import (
    DEFAULT_STACK,
    DEPLOYER_NAME,
    As,
    Json,
    OsmoPool,
    TemplateStrings,
    TemplateValues,
    TemplateVariables,
    WorkflowFiles,
)

SimulatedStack = Annotated[str, typer.Option("--stack", help="The simulated stack to run them on.")]


def run(  # noqa: PLR0917 - each is an option
    files: WorkflowFiles,
    stack: SimulatedStack = DEFAULT_STACK,
    pool: OsmoPool = None,
    set_: TemplateValues = None,
    set_string: TemplateStrings = None,
    set_env: TemplateVariables = None,
    as_: As = DEPLOYER_NAME,
    json: Json = False,
) -> None:
    """Run OSMO workflows on a simulated stack, one after the other, and follow each to its end.

    A substitute for OSMO accepts the workflows; the user named by --as logs in to it. Scheduling, admission and quotas
    are the cluster's own. Programs are not executed: a task succeeds unless the GPU of its node, or the driver
    libraries in its container, would have made it fail.
    """
    from workbench.cli.output import workflows
    from workbench.cli.run_options import principal_named
    from workbench.cli.simulated_stack import running_simulation
    from workbench.cli.workflows.files import of_template, workflow_files
    from workbench.cli.workflows.runner import run_files
    from workbench.osmo.workflow.rendering import Variables

    variables = Variables(of_template(set_, "physai up --set"), set_string or (), set_env or ())
    principal = principal_named(as_)
    documents = run_files(running_simulation(stack), workflow_files(files), pool, variables, principal)
    if json:
        print_json({"stack": stack, "workflows": documents})
    else:
        out.print(workflows.table(documents))
    if not workflows.succeeded(documents):
        raise typer.Exit(FAILED)
