"""Replay of a recording: its objects are loaded into an API server on this machine, in which nobody can change them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli.console import err, out, print_json
from workbench.cli.recorded import opened

if TYPE_CHECKING:
    from simulator.replay import Listed
    from workbench.recordings.reading import Recording

NOT_DONE = (
    "nothing is scheduled, started, evicted or deleted: no controller and no scheduler runs",
    "Secrets, logs and the resources of Azure are not in it; logs are in the file, for --from",
    "objects are as old as the replay; times in conditions, statuses and events are the recorded ones",
)
SHOWN = 10


Replayed = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="A replay of this recording, in an API server that nobody can change."),
]


def replay(file: Path, stack: str, others: Sequence[object], *, as_json: bool) -> None:
    """Starts an API server, loads the recorded objects, and prints how to read them. `others`: options that must not be
    given.
    """
    from simulator.replay import NOT_LOADED, plane_of
    from workbench.recordings.questions import ASKED

    if any(others):
        raise typer.BadParameter("the recording is the only source; leave other options out", param_hint="--from")
    recorded = opened(file, stack)
    plane = plane_of(recorded.stack)
    with err.status("starting an API server", spinner="dots") as status:
        plane.begin()
        loaded = plane.load(listed(recorded.recording), [each.rpartition("/")[2] for each in ASKED], status.update)
    missing = [f"{each}: {why}" for each, why in NOT_LOADED.items()]
    if as_json:
        print_json({
            "stack": recorded.stack, "from": str(file), "kubeconfig": str(plane.kubeconfig), "objects": loaded.objects,
            "refused": loaded.refused, "notLoaded": missing, "notDone": list(NOT_DONE),
        })  # fmt: skip
        return
    out.print(
        f"{loaded.objects} objects of {recorded.stack}, as recorded at {recorded.recording.recorded_at}", markup=False
    )
    out.print(f"  kubectl --kubeconfig {plane.kubeconfig} get pods -A", markup=False, soft_wrap=True)
    for each in (*NOT_DONE, f"not loaded: {', '.join(NOT_LOADED)}"):
        out.print(f"  {each}", markup=False, style="dim", soft_wrap=True)
    for each in loaded.refused[:SHOWN]:
        out.print(f"  not taken: {each}", markup=False, style="yellow", soft_wrap=True)
    if len(loaded.refused) > SHOWN:
        out.print(f"  not taken: {len(loaded.refused) - SHOWN} more", markup=False, style="yellow")
    out.print(f"end it with `physai down --from {file}`", markup=False, soft_wrap=True)


def end(file: Path, stack: str) -> None:
    """Ends the API server of a recording, and removes its files."""
    from simulator.replay import plane_of

    recorded = opened(file, stack)
    plane_of(recorded.stack).wipe()
    out.print(f"the replay of {recorded.stack} has ended", markup=False)


def listed(recording: Recording) -> Iterator[Listed]:
    """The recorded objects of each list, with the kind that the recorded API discovery has for it."""
    from simulator.replay import Listed

    kinds: dict[str, Mapping[str, Any]] = {}
    for entry in recording.of("discovery"):
        for each in entry["answer"].get("resources") or ():
            if isinstance(each.get("kind"), str):
                kinds[f"{entry['path']}/{each.get('name')}"] = each
    for path, items in recording.lists.items():
        if path in kinds:
            yield Listed(path, str(kinds[path]["kind"]), bool(kinds[path].get("namespaced")), items)
