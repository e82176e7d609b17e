"""The `record` command: writes a cluster and its subscription into one file, without secrets, names and ids."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from physical_ai.disk_errors import UNWRITABLE
from workbench.cli.console import err, out, print_json
from workbench.cli.exit_codes import FAILED
from workbench.cli.options import DEFAULT_STACK, Assignments, Context, Files, Json, Kubeconfig, Prometheus, Stack

Written = TypeVar("Written")
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write, such as it.physai.gz.")
]
Azure = Annotated[
    bool, typer.Option("--azure", help="With --kubeconfig: also read the stack's resources from Azure (needs a login).")
]
Minutes = Annotated[float, typer.Option("--minutes", min=0.1, help="The most that reading may take.")]
Requests = Annotated[int, typer.Option("--requests", min=1, help="The most requests to the API server, and to Azure.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite FILE even if it is no recording.")]
Size = Annotated[int, typer.Option("--size", min=1, metavar="MIB", help="The most that is read of each, in MiB.")]

Logs = Annotated[
    bool, typer.Option("--logs", help="Also read logs of containers that failed, which may hold anything.")
]


def record(  # noqa: PLR0917 - each is an option
    output: Output,
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    azure: Azure = False,
    prometheus: Prometheus = None,
    logs: Logs = False,
    minutes: Minutes = 10,
    requests: Requests = 1500,
    size: Size = 128,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Record a cluster and its subscription in one file, for somebody who has no access: objects, events,
    metrics, bodies of Azure's resources, and with --logs the logs of containers that failed.

    Reading rights are enough, and nothing is changed. Secrets are never read; credentials elsewhere are removed; ids,
    addresses, hosts and users are replaced. Look through the summary before you give the file away.
    """
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.readiness.answers import Missing
    from workbench.cli.loaded_stack import read_loaded
    from workbench.cli.recording_sources import Wanted, entries
    from workbench.recordings.making import made
    from workbench.recordings.questions import Limits
    from workbench.recordings.reading import is_recording
    from workbench.recordings.writing import check_writable, write

    if azure and kubeconfig is None:
        raise typer.BadParameter("the simulated one is always read", param_hint="--azure")
    if not output.parent.is_dir():
        raise typer.BadParameter(f"{output.parent} is no folder; name a file in one that exists", param_hint="--output")
    if output.exists() and not force and not is_recording(output):
        raise typer.BadParameter(
            f"{output} exists and is no recording; name another file, or overwrite it with --force",
            param_hint="--output",
        )
    _try(lambda: check_writable(output), output)
    limits = Limits(minutes * 60, requests, size, logs)
    wanted = Wanted(read_loaded(stack, file, set_), kubeconfig, context, prometheus, azure, limits)
    try:
        with err.status("reading", spinner="dots") as status:
            found = made(list(entries(wanted, status.update)))
    except (Missing, Unreachable, Unusable) as problem:
        err.print(f"{kubeconfig or stack} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None
    written = _try(lambda: write(found, output), output)
    summary = found[1]
    if json:
        figures = {key: value for key, value in summary.items() if key != "kind"}
        print_json({"stack": stack, "file": str(output), "bytes": written, **figures})
        return
    _print(output, written, summary)


def _try(writes: Callable[[], Written], output: Path) -> Written:
    """Result of `writes`. Raises typer.BadParameter if the path of --output is wrong.

    For a full disk or a missing right, raises the OSError again, with the path of the file.
    """
    try:
        return writes()
    except OSError as problem:
        if problem.errno in UNWRITABLE:
            raise OSError(problem.errno, problem.strerror, str(output)) from None
        raise typer.BadParameter(f"{output}: {problem.strerror}", param_hint="--output") from None


def _print(output: Path, written: int, summary: dict[str, Any]) -> None:
    objects: dict[str, int] = summary["objects"]
    out.print(f"{output}: {written / 1024:,.0f} KiB", markup=False, soft_wrap=True)
    cluster = {key: count for key, count in objects.items() if key.startswith("/")}
    out.print(f"  {sum(cluster.values()):,} Kubernetes objects in {len(cluster)} lists", markup=False)
    beside = ", ".join(f"{count} {key}" for key, count in objects.items() if not key.startswith("/"))
    out.print(f"  beside them: {beside}", markup=False, soft_wrap=True)
    spaces = ", ".join(f"{key} ({count})" for key, count in summary["namespaces"].items())
    out.print(f"  namespaces, whose names are kept: {spaces}", markup=False, soft_wrap=True)
    replaced = ", ".join(f"{count} {key}" for key, count in summary["replaced"].items()) or "nothing"
    out.print(f"  replaced: {replaced}; credentials removed: {summary['removed']}", markup=False, soft_wrap=True)
    out.print(
        "  kept as they are: names of Pods, workflows, images and labels, and texts of events but for credentials",
        markup=False,
    )
    for each in summary["unread"]:
        out.print(f"  not read: {each}", markup=False, style="yellow", soft_wrap=True)
