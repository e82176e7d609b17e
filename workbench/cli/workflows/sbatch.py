"""`lint --from-sbatch`: converts a Slurm script, writes the workflow, and checks the workflow against the stack."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from physical_ai.findings import Severity, any_at_least
from physical_ai.untrusted.text import inert, inert_json, printable
from workbench.cli.console import STYLES, err, print_json
from workbench.cli.options import write_new_file

if TYPE_CHECKING:
    from physical_ai.findings import Finding
    from workbench.osmo.lint import Checked, Context
    from workbench.osmo.sbatch.isolated import Result

HINT = "--from-sbatch"


@dataclass(frozen=True)
class Request:
    """Options of `lint --from-sbatch`."""

    files: Sequence[Path] | None
    script: Path | None
    platform: str | None
    image: str | None
    output: Path | None
    as_json: bool


def lint_script(request: Request, context: Context, least: Severity) -> bool:
    """Converts a script, writes the workflow and checks it. Returns True if every finding is less severe than
    `least`.
    """
    from workbench.cli.output.lint import print_findings
    from workbench.osmo.lint.report import document
    from workbench.osmo.sbatch import platforms_of
    from workbench.osmo.sbatch.isolated import convert_script

    script = _script(request)
    result = convert_script(_read(script), script.name, platforms_of(context), request.platform, request.image)
    written = result.written
    name = str(request.output or script.with_suffix(".yaml").name)
    checked = [_check(written, name, context)] if written is not None else []
    if written is not None and request.output is not None:
        write_new_file(request.output, written)
    if request.as_json:
        found = document(checked, context.name, context.pool, kinds=())
        print_json({**found, "sbatch": _document(script, result), "workflow": result.workflow})
    else:
        _print(result.findings)
        if written is not None and request.output is None:
            # JSON is YAML too, and can write any text so that no line is a command of a pipeline. A tab is none.
            spaced = written.replace("\t", " ")
            print(written if inert(spaced) == spaced else inert_json(json.dumps(result.workflow)), end="")
        if checked:
            print_findings(checked, context, listed=True)
        else:
            err.print(f"{script}: not converted", markup=False, style="red")
    every = [*result.findings, *(finding for one in checked for finding in one.findings)]
    return not any_at_least(every, least)


def _script(request: Request) -> Path:
    if request.script is None:
        raise typer.BadParameter("--platform, --image and --output are for a script: name it", param_hint=HINT)
    if request.files:
        raise typer.BadParameter("give a script to convert, or files to check, not both", param_hint=HINT)
    return request.script


def _read(path: Path) -> str:
    from physical_ai.untrusted import files

    try:
        return files.read_text(path)
    except files.Unreadable as problem:
        raise typer.BadParameter(f"{path}: {problem}", param_hint=HINT) from None


def _check(text: str, name: str, context: Context) -> Checked:
    """Result of the check of the converted workflow. As for any workflow file, the check runs in a
    process with limits.
    """
    import tempfile

    from workbench.osmo.lint import check_files

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workflow.yaml"
        path.write_text(text)
        (checked,) = check_files({path: Path(folder)}, context)

    return replace(checked, file=name, findings=[replace(finding, file=name) for finding in checked.findings])


def _document(script: Path, result: Result) -> dict[str, object]:
    return {
        "file": str(script),
        "converted": result.workflow is not None,
        "findings": [{**finding.document(), "where": finding.where} for finding in result.findings],
    }


def _print(findings: Sequence[Finding]) -> None:
    for each in findings:
        head = f"{each.where}: {each.severity} {each.rule}: {each.problem}"
        err.print(printable(head), markup=False, style=STYLES[each.severity])
        if each.fix:
            err.print(f"  {printable(each.fix)}", markup=False)
