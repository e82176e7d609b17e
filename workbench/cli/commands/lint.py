"""The `lint` command: checks OSMO workflows, and values of OSMO's chart, before they run."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from physical_ai.findings import Severity, any_at_least
from workbench.cli.console import print_json
from workbench.cli.exit_codes import FINDINGS
from workbench.cli.options import (
    DEFAULT_STACK,
    Files,
    Json,
    Least,
    OsmoPool,
    TemplateStrings,
    TemplateValues,
    TemplateVariables,
    WorkflowPriority,
)


class Format(StrEnum):
    """Format of the printed findings."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


Workflows = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FILES…", help="Workflow files, chart values, or folders of them.", show_default=False),
]
FromSbatch = Annotated[
    Path | None,
    typer.Option(
        "--from-sbatch", metavar="FILE", help="Convert this Slurm script to a workflow, and check it; without FILES."
    ),
]
Platform = Annotated[
    str | None,
    typer.Option(
        "--platform", metavar="NAME", help="With --from-sbatch: the platform; overrides the script's partition."
    ),
]
Image = Annotated[
    str | None,
    typer.Option(
        "--image", metavar="IMAGE", help="With --from-sbatch: the image; overrides the script's --container-image."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="With --from-sbatch: write the workflow here, not to stdout."),
]
StackOption = Annotated[str, typer.Option("--stack", help="Check against this stack's platforms.")]
Setting = Annotated[
    list[str] | None,
    typer.Option("--setting", metavar="PATH=VALUE", help="A setting that overrides those of the stack."),
]
Values = Annotated[
    Path | None, typer.Option("--values", metavar="FILE", help="Check against these chart values, not the stack's.")
]
FormatOption = Annotated[Format, typer.Option("--format", help="text, one JSON document, or GitHub annotations.")]
Render = Annotated[bool, typer.Option("--render", help="Print the Pods that OSMO would create.")]
Simulate = Annotated[
    bool, typer.Option("--simulate", help="Then create the Pods in the simulated stack, and show the node of each.")
]
OsmoVersion = Annotated[
    Literal["6.3", "6.4"],
    typer.Option("--osmo-version", help="Release to check for: 6.4 as its main branch of 2026-08-20 has it."),
]
Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Read files of localpath below this folder; otherwise those of the workflow's Git repository.",
    ),
]
Objects = Annotated[
    bool, typer.Option("--objects", help="Print all objects that OSMO would create: Secrets, PodGroups, Pods.")
]


def lint(  # noqa: PLR0917 - each is an option
    files: Workflows = None,
    stack: StackOption = DEFAULT_STACK,
    pool: OsmoPool = None,
    set_: TemplateValues = None,
    set_string: TemplateStrings = None,
    set_env: TemplateVariables = None,
    priority: WorkflowPriority = "NORMAL",
    osmo_version: OsmoVersion = "6.3",
    root: Root = None,
    values: Values = None,
    file: Files = None,
    setting: Setting = None,
    format_: FormatOption = Format.TEXT,
    severity: Least = Severity.WARNING,
    render: Render = False,
    objects: Objects = False,
    simulate: Simulate = False,
    from_sbatch: FromSbatch = None,
    platform: Platform = None,
    image: Image = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Check OSMO workflow files against a stack: schema, GPUs, sizes, images, secrets, and the resulting Pods.

    With --from-sbatch, first converts a simple Slurm script, and lists by line what cannot be converted.
    """
    from workbench.cli.output.lint import print_annotations, print_findings, print_objects, print_placements
    from workbench.cli.simulated_stack import running_simulation
    from workbench.cli.workflows.files import of_template, stack_context, values_context, workflow_files
    from workbench.osmo.lint import check_files
    from workbench.osmo.lint.report import document
    from workbench.osmo.workflow.rendering import Variables

    variables = Variables(of_template(set_, "--setting"), set_string or (), set_env or (), priority)
    if values is not None:
        context = values_context(values, pool, variables)
    else:
        context = stack_context(stack, pool, variables, file or [], setting or [])
    context = replace(context, osmo_version=osmo_version, root=_root(root, files))
    if from_sbatch is not None or platform or image or output:
        from workbench.cli.workflows.sbatch import Request, lint_script

        request = Request(files, from_sbatch, platform, image, output, as_json=json or format_ is Format.JSON)
        if not lint_script(request, context, severity):
            raise typer.Exit(FINDINGS)
        return
    complete = render or objects or simulate
    checked = check_files(workflow_files(_named(files)), context, complete=complete)
    chosen = Format.JSON if json else format_
    kinds = None if objects else ("Pod",) if render else ()
    placed = {}
    if simulate:
        from workbench.cli.workflows.runner import placements

        placed = placements(running_simulation(stack), checked, pool, variables)
    if chosen is Format.JSON:
        found = document(checked, context.name, context.pool, kinds=kinds)
        print_json({**found, "placements": placed} if simulate else found)
    else:
        if chosen is Format.GITHUB:
            print_annotations(checked)
        print_findings(checked, context, listed=chosen is Format.TEXT)
        if kinds != ():
            print_objects(checked, kinds)
        print_placements(placed)
    if any(not task["node"] for tasks in placed.values() for task in tasks):
        raise typer.Exit(FINDINGS)
    if any(any_at_least(one.findings, severity) for one in checked):
        raise typer.Exit(FINDINGS)


def _root(root: Path | None, files: list[Path] | None) -> Path | None:
    """The folder of the option `--root`; None without the option. Raises typer.BadParameter if the folder does not
    exist, or does not contain the files.
    """
    if root is None:
        return None
    if not root.is_dir():
        raise typer.BadParameter(f"there is no folder {root}", param_hint="--root")
    for file in files or []:
        if not file.resolve().is_relative_to(root.resolve()):
            raise typer.BadParameter(f"{file} is not below {root}: name a folder above it", param_hint="--root")
    return root


def _named(files: list[Path] | None) -> list[Path]:
    if not files:
        raise typer.BadParameter(
            "no file was given. Usage: physai lint FILES…, or --from-sbatch FILE", param_hint="FILES…"
        )
    return files
