"""The `preview` command: what an `up` would change, and what that does to running work."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from workbench.cli.console import err, out, print_json, print_text
from workbench.cli.exit_codes import FINDINGS
from workbench.cli.options import (
    DEFAULT_STACK,
    DEPLOYER_NAME,
    USUAL_WORK_VARIABLE,
    As,
    Assignments,
    Context,
    ExcludeDependents,
    Excludes,
    ExpectNoChanges,
    Files,
    Json,
    Kubeconfig,
    Refresh,
    Stack,
    TargetDependents,
    Targets,
)
from workbench.cli.run_options import run_options


class Format(StrEnum):
    """Format of a printed preview."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


FormatOption = Annotated[
    Format, typer.Option("--format", help="text: the changes. markdown, json: also policies, versions and cost.")
]
UsualWork = Annotated[
    bool,
    typer.Option(
        "--usual-work",
        envvar=USUAL_WORK_VARIABLE,
        help="Judge the change by pools.<pool>.usualLoad instead of a cluster, as in a pull request.",
    ),
]
FromOption = Annotated[
    Path | None,
    typer.Option(
        "--from", metavar="FILE", help="Read the output of `pulumi preview --json` of the real stack instead."
    ),
]
RecordingOption = Annotated[
    Path | None,
    typer.Option(
        "--recording", metavar="FILE", help="Judge the change by the work that ran in this recording (physai record)."
    ),
]
TimelineOption = Annotated[
    Path | None,
    typer.Option("--timeline", metavar="FILE", help="Also draw what happens to running work, and when, as FILE.svg."),
]
Policies = Annotated[
    bool, typer.Option("--policies", help="Also run the policy pack over each resource; exit with 3 if it refuses.")
]


def preview(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    policies: Policies = False,
    file: Files = None,
    set_: Assignments = None,
    refresh: Refresh = False,
    expect_no_changes: ExpectNoChanges = False,
    target: Targets = None,
    target_dependents: TargetDependents = False,
    exclude: Excludes = None,
    exclude_dependents: ExcludeDependents = False,
    as_: As = DEPLOYER_NAME,
    format: FormatOption = Format.TEXT,
    from_: FromOption = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    recording: RecordingOption = None,
    usual_work: UsualWork = False,
    timeline: TimelineOption = None,
    json: Json = False,
) -> None:
    """Show what `up` would change in the simulated stack, and change nothing.

    The first line says what the change does to running work: in the simulated cluster, in that of --kubeconfig, or in
    --recording. With --refresh, also what differs from the state. With --format markdown or json, also the findings of
    policies, the versions and the cost.
    """
    from workbench.cli import policy_pack
    from workbench.cli.preview import change_list, markdown, review, work
    from workbench.cli.preview.sources import pulumi_preview, simulated_preview
    from workbench.cli.requested_stack import read_stack
    from workbench.impact import telling

    if policies and from_ is not None:
        raise typer.BadParameter("the policy pack runs in a preview of the simulator, so omit --from")
    requested = read_stack(stack, file, set_)
    options = run_options(
        as_,
        target,
        exclude,
        target_dependents=target_dependents,
        exclude_dependents=exclude_dependents,
        refresh=refresh,
        expect_no_changes=expect_no_changes,
    )
    if from_ is None:
        found = simulated_preview(requested, policies=policies, options=options)
    else:
        found = pulumi_preview(from_, expect_no_changes=expect_no_changes)
    judged = (
        work.judged(
            requested,
            found,
            kubeconfig=kubeconfig,
            context=context,
            recording=recording,
            simulated=from_ is None,
            usual=usual_work,
        )
        if work.is_judged(found)
        else None
    )
    impact = telling.document(*judged) if judged else None
    if timeline is not None:
        _draw(impact, stack, timeline)
    if json:
        violations = {"policies": policy_pack.violations_document(found.run)} if policies else {}
        drift = {"drift": change_list.drift(found.run)} if refresh else {}
        document = change_list.document(found.run, found.nodes)
        print_json({"stack": stack, "impact": impact, **document, **drift, **violations})
    elif format is Format.TEXT:
        if refresh:
            out.print(change_list.render_drift(found.run))
        if judged:
            print_text("\n".join([telling.headline(*judged), *telling.sentences(*judged), "", ""]))
        out.print(change_list.render(found.run, found.nodes))
        policy_pack.print_violations(found.run)
    else:
        document = review.document(requested, found, impact)
        if format is Format.JSON:
            print_json(document)
        else:
            print_text(f"{markdown.stack(document)}\n")
    if policy_pack.is_refused(found.run) or found.unexpected:
        raise typer.Exit(FINDINGS)


def _draw(impact: Mapping[str, Any] | None, stack: str, file: Path) -> None:
    """Draws the timeline of an impact; a change of nothing that exists has none, and says so."""
    from workbench.cli.preview.impact_picture import NoPicture, write_picture

    if impact is None:
        err.print(f"{file}: not drawn, since nothing that exists changes", style="yellow", markup=False)
        return
    try:
        write_picture(impact, stack, file)
    except NoPicture as problem:
        raise typer.BadParameter(str(problem), param_hint="--timeline") from None
