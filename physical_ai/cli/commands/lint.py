"""The `lint` command: OSMO workflows, and values of OSMO's chart, checked before they cost anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from physical_ai.cli.console import err, print_json
from physical_ai.cli.options import DEFAULT_STACK, Files, Json

if TYPE_CHECKING:
    from physical_ai.osmo.lint import Checked, Context

FINDINGS = 3
SUFFIXES = (".yaml", ".yml")
_STYLE = {"error": "red", "warning": "yellow"}


class Format(StrEnum):
    """How findings are told."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


class Least(StrEnum):
    """From which severity on a finding counts."""

    WARNING = "warning"
    ERROR = "error"


Workflows = Annotated[
    list[Path], typer.Argument(metavar="FILES…", help="Workflow files, chart values, folders of them.")
]
StackOption = Annotated[str, typer.Option("--stack", help="Check against this stack's platforms.")]
PoolOption = Annotated[str | None, typer.Option("--pool", help="OSMO pool to submit to; the default one if absent.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A template's variable, as osmo submit has it.")
]
SetString = Annotated[
    list[str] | None, typer.Option("--set-string", metavar="NAME=VALUE", help="The same, taken as text.")
]
SetEnv = Annotated[
    list[str] | None, typer.Option("--set-env", metavar="NAME=VALUE", help="A variable of every task's environment.")
]
Setting = Annotated[
    list[str] | None, typer.Option("--setting", metavar="PATH=VALUE", help="A setting of the stack over all others.")
]
Values = Annotated[
    Path | None, typer.Option("--values", metavar="FILE", help="Check against these chart values, not the stack's.")
]
FormatOption = Annotated[Format, typer.Option("--format", help="text, one JSON document, or GitHub annotations.")]
Severity = Annotated[Least, typer.Option("--severity", help="Exit with 3 when a finding is as grave as this.")]
Render = Annotated[bool, typer.Option("--render", help="Print the very Pods that OSMO would make.")]
Simulate = Annotated[
    bool, typer.Option("--simulate", help="Then create the Pods in the simulated stack: do they get a node?")
]
Objects = Annotated[bool, typer.Option("--objects", help="Print all it would create: Secrets, PodGroups, Pods.")]


def lint(  # noqa: PLR0917 - each is an option
    files: Workflows,
    stack: StackOption = DEFAULT_STACK,
    pool: PoolOption = None,
    set_: SetOption = None,
    set_string: SetString = None,
    set_env: SetEnv = None,
    values: Values = None,
    file: Files = None,
    setting: Setting = None,
    format_: FormatOption = Format.TEXT,
    severity: Severity = Least.WARNING,
    render: Render = False,
    objects: Objects = False,
    simulate: Simulate = False,
    json: Json = False,
) -> None:
    """Check OSMO workflow files against a stack: schema, GPUs, sizes, images, secrets, and the Pods they become."""
    from physical_ai.osmo.lint import check_text
    from physical_ai.osmo.lint.report import document, github
    from physical_ai.osmo.rendering import Variables

    variables = Variables(set_ or (), set_string or (), set_env or ())
    context = _context(stack, pool, variables, values, file or [], setting or [])
    checked = [check_text(read_text(path), str(path), context, path.parent) for path in workflow_files(files)]
    chosen = Format.JSON if json else format_
    kinds = None if objects else ("Pod",) if render else ()
    placed = _placed(stack, checked, pool, variables) if simulate else {}
    if chosen is Format.JSON:
        told = document(checked, context.name, context.pool, kinds=kinds)
        print_json({**told, "placements": placed} if simulate else told)
    elif chosen is Format.GITHUB:
        for one in checked:
            for finding in one.findings:
                print(github(finding))
    if chosen is not Format.JSON:
        tell(checked, context, listed=chosen is Format.TEXT)
    if kinds != () and chosen is not Format.JSON:
        _print_objects(checked, kinds)
    if simulate and chosen is not Format.JSON:
        _tell_placements(placed)
    if any(not task["node"] for tasks in placed.values() for task in tasks):
        raise typer.Exit(FINDINGS)
    if any(item.severity == "error" or severity is Least.WARNING for one in checked for item in one.findings):
        raise typer.Exit(FINDINGS)


def _placed(stack: str, checked: Sequence[Checked], pool: str | None, variables: Any) -> dict[str, list[Any]]:
    """Where each task's Pod would go; files with errors have none."""
    from physical_ai.cli.commands.run import placements, running_stack

    for one in checked:
        if any(item.severity == "error" for item in one.findings):
            err.print(f"{one.file} has errors, so the simulated cluster is not asked", markup=False)
    good = [one for one in checked if not any(item.severity == "error" for item in one.findings)]
    return placements(running_stack(stack), good, pool, variables)


def _tell_placements(placed: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    for file, tasks in placed.items():
        for task in tasks:
            where = f"on {task['node']}" if task["node"] else f"gets no node: {task['message'] or task['status']}"
            style = None if task["node"] else "red"
            err.print(f"{file}: task {task['name']} ({task['platform']}) {where}", markup=False, style=style)


def _context(  # noqa: PLR0917 - each is an option
    stack: str,
    pool: str | None,
    variables: Any,
    values: Path | None,
    overlays: Sequence[Path],
    assignments: Sequence[str],
) -> Context:
    from physical_ai.osmo.lint import of_stack
    from physical_ai.settings import Overlay, load

    if values is not None:
        context = _of_values(values, pool, variables)
    else:
        layers = [Overlay.read(path) for path in overlays]
        layers += [Overlay.assign(list(assignments))] if assignments else []
        context = of_stack(load(stack, layers).settings, pool, variables)
    if context.pool not in context.config.pool_names:
        known = ", ".join(context.config.pool_names) or "none"
        raise typer.BadParameter(f"{context.name} has no OSMO pool '{context.pool}', but: {known}", param_hint="--pool")
    return context


def _of_values(path: Path, pool: str | None, variables: Any) -> Context:
    """A context of chart values, which have to be good enough for the service to start with."""
    import yaml

    from physical_ai.osmo.lint import of_chart_values
    from physical_ai.osmo.refusal import Refusal
    from physical_ai.osmo.shapes import a_map

    try:
        return of_chart_values(a_map(yaml.safe_load(read_text(path))), str(path), pool, variables)
    except yaml.YAMLError as error:
        raise typer.BadParameter(f"{path} is not YAML: {error}", param_hint="--values") from None
    except Refusal as refusal:
        raise typer.BadParameter(f"{path}: the service does not load it: {refusal}", param_hint="--values") from None


def workflow_files(paths: Sequence[Path], hint: str = "FILES") -> list[Path]:
    """Files, and those of folders. A folder without any is a mistake, not a success."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(item for item in path.rglob("*") if item.suffix in SUFFIXES and item.is_file())
            if not inside:
                raise typer.BadParameter(f"there is no *.yaml in the folder {path}", param_hint=hint)
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise typer.BadParameter(f"there is no file {path}", param_hint=hint)
    return list(dict.fromkeys(found))


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{path} is not UTF-8 text", param_hint="FILES") from None
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}", param_hint="FILES") from None


def tell(checked: Sequence[Checked], context: Context, *, listed: bool) -> None:
    """Findings and their number, to stderr: stdout is for what is rendered or annotated."""
    from physical_ai.osmo.lint.report import summary, text
    from physical_ai.settings.faults import printable

    for one in checked if listed else ():
        for finding in one.findings:
            head, *rest = [printable(line) for line in text(finding).split("\n")]
            err.print(head, markup=False, style=_STYLE[finding.severity])
            err.print("\n".join(rest), markup=False)
    err.print(summary(checked, context.name), markup=False)


def _print_objects(checked: Sequence[Checked], kinds: Sequence[str] | None) -> None:
    """Objects as YAML documents, in the order of their creation."""
    import yaml

    from physical_ai.settings.plans.osmo_service import Plain

    for one in checked:
        for group in one.objects:
            for item in group.of(kinds):
                print(f"---\n# {one.file}: group {group.group}")
                print(yaml.dump(item, Dumper=Plain, sort_keys=False, allow_unicode=True, width=120), end="")
