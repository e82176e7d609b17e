"""Replay of a recording: its objects are loaded into an API server on this machine, in which nobody can change them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from physical_ai.kubernetes.objects import at
from physical_ai.nested import mappings
from workbench.cli.console import err, out, print_json
from workbench.cli.recorded import opened

if TYPE_CHECKING:
    from simulator.replay_objects import Listed
    from workbench.recordings.reading import Recording

NOT_DONE = (
    "nothing is scheduled, started, evicted or deleted: no controller and no scheduler runs",
    "Secrets, logs and the resources of Azure are not in it; logs are in the file, for --from",
    "objects are as old as the replay; times in conditions, statuses and events are the recorded ones",
)
SHOWN = 10
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


Replayed = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="A replay of this recording, in an API server that nobody can change."),
]


def replay(file: Path, stack: str, others: Sequence[object], *, as_json: bool) -> None:
    """Starts an API server, loads the recorded objects, and prints how to read them.

    `others`: values of the options that may not be used together with a recording.
    """
    from simulator.replay import plane_of
    from simulator.replay_objects import NOT_LOADED
    from workbench.recordings.questions import ASKED

    if any(others):
        raise typer.BadParameter("the recording is the only source; leave other options out", param_hint="--from")
    recorded = opened(file, stack)
    plane = plane_of(recorded.stack)
    with err.status("starting an API server", spinner="dots") as status:
        plane.begin()
        loaded = plane.load(listed(recorded.recording), [each.rpartition("/")[2] for each in ASKED], status.update)
    loaded.refused += [f"{each}: the recording does not have its kind" for each in without_kind(recorded.recording)]
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
    """The recorded lists of objects whose kind is known from the recorded API discovery or from a recorded CRD. Each
    has its API path, its kind and its objects.
    """
    from simulator.replay_objects import Listed

    kinds = {**_defined(recording), **_discovered(recording)}
    for path, items in recording.lists.items():
        if path in kinds:
            yield Listed(path, *kinds[path], items)


def without_kind(recording: Recording) -> list[str]:
    """API paths of recorded lists that have objects, but whose kind is neither in the recorded API discovery nor in a
    recorded CRD.
    """
    kinds = _defined(recording).keys() | _discovered(recording).keys()
    return [path for path, items in recording.lists.items() if items and path not in kinds]


def _discovered(recording: Recording) -> dict[str, tuple[str, bool]]:
    return {
        f"{entry['path']}/{each.get('name')}": (str(each["kind"]), bool(each.get("namespaced")))
        for entry in recording.of("discovery")
        for each in mappings(entry["answer"].get("resources"))
        if isinstance(each.get("kind"), str)
    }


def _defined(recording: Recording) -> dict[str, tuple[str, bool]]:
    """Kinds that the recorded CRDs define, by API path; True marks a namespaced kind. Each version of a CRD has an API
    path of its own, because a reader may request any version.
    """
    return {
        f"/apis/{at(each, 'spec.group')}/{version.get('name')}/{at(each, 'spec.names.plural')}": (
            str(at(each, "spec.names.kind")),
            at(each, "spec.scope") == "Namespaced",
        )
        for each in recording.lists.get(DEFINITIONS, ())
        for version in mappings(at(each, "spec.versions"))
    }
