"""The `compare` command: compares a recorded cluster with a simulated one, to find wrong assumptions of
this project.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.console import err, out, print_json
from workbench.cli.exit_codes import FINDINGS
from workbench.cli.options import DEFAULT_STACK, Json
from workbench.cli.recorded import opened

if TYPE_CHECKING:
    from workbench.recordings.comparing import Difference
    from workbench.recordings.reading import Recording

Seen = Annotated[Path, typer.Argument(metavar="FILE", help="The recording of a real cluster (physai record).")]
Against = Annotated[
    Path | None,
    typer.Option(
        "--against", metavar="FILE", help="A recording of the simulated stack; the running one is recorded if omitted."
    ),
]
Write = Annotated[
    bool, typer.Option("--write", help="Add the differences to the catalogue, as facts that were seen on that day.")
]


def compare(file: Seen, against: Against = None, write: Write = False, json: Json = False) -> None:
    """Compare a recording with the simulated stack of the same name; exit with 3 if something differs.

    Compared are VM sizes, labels and taints of nodes, Azure resources, workloads, CRDs, and durations. Each difference
    names the file with the wrong assumption. --write adds the recorded values to the catalogue, with their date.
    """
    from physical_ai.catalog.seen import seen_facts
    from workbench.recordings.comparing import differences
    from workbench.recordings.learning import new_rows, written

    seen = opened(file, DEFAULT_STACK).recording
    if write and seen.simulated:
        raise typer.BadParameter(f"{file} is of a simulated cluster, and no fact about Azure", param_hint="--write")
    believed = _believed(seen, against)
    found = differences(seen, believed)
    known = {(each.about, each.subject, each.path): each.date for each in seen_facts()}
    files = written(new_rows(found, seen)) if write and found else []
    if json:
        rows = [{**each.document(), "known": (each.about, each.subject, each.path) in known} for each in found]
        print_json({"stack": seen.stack, "file": str(file), "differences": rows, "written": files})
    else:
        _print(found, files)
    if found:
        raise typer.Exit(FINDINGS)


def _believed(seen: Recording, against: Path | None) -> Recording:
    if against is not None:
        return opened(against, seen.stack).recording
    from physical_ai.settings import load
    from workbench.cli.recording_sources import Wanted, entries
    from workbench.recordings.making import made
    from workbench.recordings.questions import Limits
    from workbench.recordings.reading import Recording

    wanted = Wanted(load(seen.stack), None, None, None, azure=False, limits=Limits())
    with err.status("reading the simulated stack", spinner="dots") as status:
        return Recording(Path(f"simulated {seen.stack}"), made(list(entries(wanted, status.update))))


def _print(found: list[Difference], files: list[str]) -> None:
    from workbench.cli.output.alerts import table

    if not found:
        out.print("what was seen is what is believed", markup=False)
        return
    columns = {"what": "what", "path": "path", "believed": "believed", "seen": "seen", "home": "home"}
    rows = [{**each.document(), "what": f"{each.about} {each.subject}"} for each in found]
    out.print(table([{key: str(value) for key, value in each.items()} for each in rows], columns))
    out.print(f"{len(found)} differences", markup=False)
    for each in files:
        out.print(f"written: {each}", markup=False)
