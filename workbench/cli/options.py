"""Arguments and options that commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from physical_ai.findings import Severity
from physical_ai.repository import STACKS

_PLATFORM_STACK = "dev-westus2"


def _default_stack() -> str:
    """Stack that a command uses if it names none: the platform's own stack or, in a project without that stack, the
    project's first stack by name.
    """
    names = sorted(file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in STACKS.glob("Pulumi.*.yaml"))
    return _PLATFORM_STACK if _PLATFORM_STACK in names or not names else names[0]


DEFAULT_STACK = _default_stack()
DEPLOYER_NAME = "deployer"
"""Name of the principal that is logged in to the simulated Azure unless the command line names another principal."""


def _complete_stack(incomplete: str) -> list[str]:
    from physical_ai.settings import existing

    return [name for name in existing() if name.startswith(incomplete)]


USUAL_WORK_VARIABLE = "PHYSAI_USUAL_WORK"
"""Environment variable that makes `physai preview` judge a change by the usual load of the pools, instead of by the
work that runs now.
"""
Stack = Annotated[str, typer.Argument(help="The stack, <env>-<region>.", autocompletion=_complete_stack)]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        help="A file in the form of a layer that overrides the stack's settings; repeatable.",
    ),
]
BeforeAzure = Annotated[
    bool, typer.Option("--preview", help="Use only what a first preview knows, before Azure has returned any value.")
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="A setting with the highest precedence, such as pools.h100gpu.scale.max=2; repeatable.",
    ),
]
Least = Annotated[
    Severity,
    typer.Option(
        "--severity",
        metavar="SEVERITY",
        help="Exit with 3 for findings of this severity and above: ok, info, unknown, warning or error.",
    ),
]
Kubeconfig = Annotated[
    Path | None,
    typer.Option("--kubeconfig", metavar="FILE", help="Read this cluster instead of the stack's simulated one."),
]
Prometheus = Annotated[
    str | None,
    typer.Option(
        "--prometheus",
        metavar="URL",
        help="Where alerts and Xids can be queried. A simulated stack's own is used if it runs.",
    ),
]
Context = Annotated[
    str | None,
    typer.Option(
        "--context",
        metavar="NAME",
        help="With --kubeconfig: this context, instead of the stack's target.context, or the file's current one.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help='Print one JSON document on stdout; {"error": …} after a failure.')]


def _complete_principal(incomplete: str) -> list[str]:
    from simulator.entra import PRINCIPALS

    return [each.name for each in PRINCIPALS if each.name.startswith(incomplete)]


As = Annotated[
    str,
    typer.Option(
        "--as",
        metavar="NAME",
        help="The identity that is logged in to the simulated Azure: deployer, second-deployer, reader or bystander.",
        autocompletion=_complete_principal,
    ),
]
Refresh = Annotated[bool, typer.Option("--refresh", help="First read every resource, as `pulumi … --refresh` does.")]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="URN|NAME",
        help="Only this resource, or those that match a pattern with *; repeatable. Select a new resource by its URN.",
    ),
]
TargetDependents = Annotated[
    bool, typer.Option("--target-dependents", help="Also the resources that depend on the targets.")
]
Excludes = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="URN|NAME",
        help="Exclude this resource, or those that match a pattern with *; repeatable. Not with --target.",
    ),
]
ExcludeDependents = Annotated[
    bool, typer.Option("--exclude-dependents", help="Also exclude the resources that depend on those of --exclude.")
]
ExpectNoChanges = Annotated[
    bool, typer.Option("--expect-no-changes", help="Exit with 3 if there are changes, and list them.")
]
ContinueOnError = Annotated[
    bool, typer.Option("--continue-on-error", help="Continue with resources that do not depend on a failed resource.")
]
RunProgram = Annotated[bool, typer.Option("--run-program", help="Also run the program, including its waits.")]
NoRecovery = Annotated[
    bool,
    typer.Option(
        "--no-recovery", help="Do not repair what a killed run left behind: behave like `pulumi` without repair."
    ),
]

SpotFactor = Annotated[
    float | None,
    typer.Option("--spot-factor", metavar="PART", help="The share of the regular price that Spot costs, such as 0.4."),
]
WorkflowFiles = Annotated[list[Path], typer.Argument(metavar="FILES…", help="Workflow files, or folders of them.")]
OsmoPool = Annotated[str | None, typer.Option("--pool", help="OSMO pool to submit to; the default pool if omitted.")]
TemplateValues = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A variable of the template, as for `osmo workflow submit`."),
]
TemplateStrings = Annotated[
    list[str] | None, typer.Option("--set-string", metavar="NAME=VALUE", help="The same, always as text.")
]
WorkflowPriority = Annotated[
    Literal["HIGH", "NORMAL", "LOW"],
    typer.Option("--priority", help="As `osmo workflow submit` takes it; LOW may be preempted."),
]
TemplateVariables = Annotated[
    list[str] | None, typer.Option("--set-env", metavar="NAME=VALUE", help="An environment variable of every task.")
]


def write_new_file(path: Path, text: str) -> None:
    """Writes a new file. Raises typer.BadParameter if the file exists, since somebody may have edited it."""
    if os.path.lexists(path):
        raise typer.BadParameter(f"{path} exists already: remove it, or name another file", param_hint="--output")
    try:
        path.write_text(text)
    except OSError as error:
        raise typer.BadParameter(f"{path} can't be written: {error.strerror}", param_hint="--output") from None
