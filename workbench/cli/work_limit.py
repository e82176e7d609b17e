"""Options of `up` that protect running work: a maximum of lost GPU-hours, and a wait until no work would end."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.console import err, print_text
from workbench.cli.exit_codes import FINDINGS

if TYPE_CHECKING:
    from simulator.run_options import RunOptions
    from workbench.cli.requested_stack import RequestedStack
    from workbench.impact import Impact
    from workbench.impact.telling import Seen

PAUSE = 5.0
"""Seconds between two readings of the running work."""


class WaitFor(StrEnum):
    IDLE = "idle"


MaxLost = Annotated[
    float | None,
    typer.Option(
        "--max-lost",
        metavar="GPU-HOURS",
        min=0,
        help="Change nothing and exit with 3 if running work could lose more GPU-hours than this.",
    ),
]
WaitForOption = Annotated[
    WaitFor | None,
    typer.Option("--wait-for", help="idle: begin when no running work would end any more; see --wait-hours."),
]
WaitHours = Annotated[
    float, typer.Option("--wait-hours", min=0, help="With --wait-for: exit with 3 after this time, changing nothing.")
]


def hold(
    requested: RequestedStack, options: RunOptions, most: float | None, wait: WaitFor | None, wait_hours: float
) -> None:
    """Waits until the change may begin. Returns at once if neither the limit `most` nor the wait `wait` is requested.

    Raises:
        typer.Exit: the change would end more work than `most` allows, or work still runs after the wait.
    """
    if most is None and wait is None:
        return
    from workbench.cli.preview.sources import simulated_preview
    from workbench.cli.preview.work import is_judged, judged
    from workbench.impact.telling import exceeds, headline, sentences

    found = simulated_preview(requested, policies=False, options=options)
    if not is_judged(found):
        return
    if wait is not None:
        wait_until_idle(lambda: judged(requested, found, simulated=True), wait_hours * 3600)
    impact, seen = judged(requested, found, simulated=True)
    print_text("\n".join([headline(impact, seen), *sentences(impact, seen), ""]))
    if most is not None and (not seen.known or exceeds(impact, most)):
        lost = f"{impact.lost[1]:.2g} GPU-hours" if seen.known else "an unknown number of GPU-hours"
        err.print(
            f"nothing was changed: {lost} could be lost, and --max-lost allows {most:g}."
            " Wait for the work with --wait-for idle, or allow more",
            style="red",
            markup=False,
        )
        raise typer.Exit(FINDINGS)


def wait_until_idle(
    look: Callable[[], tuple[Impact, Seen]], seconds: float, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Waits until the change would end or restart no running work. Prints the work that it waits for whenever the
    number of the work's Pods changes.

    Raises:
        typer.Exit: work still runs after `seconds`, or it cannot be read which work runs.
    """
    from workbench.impact import Fate

    end, before = time.monotonic() + seconds, -1
    while True:
        impact, seen = look()
        if not seen.known:
            err.print(f"nothing was changed: what runs cannot be read ({seen.source})", style="red", markup=False)
            raise typer.Exit(FINDINGS)
        left = [each for each in impact.effects if each.fate in (Fate.ENDED, Fate.RESTARTED)]
        if not left:
            return
        if len(left) != before:
            owners = ", ".join(dict.fromkeys(each.work.owner for each in left))
            err.print(f"waiting for {owners}: {len(left)} Pods would end", markup=False)
            before = len(left)
        if time.monotonic() >= end:
            err.print("nothing was changed: work still runs at the end of --wait-hours", style="red", markup=False)
            raise typer.Exit(FINDINGS)
        sleep(min(PAUSE, max(end - time.monotonic(), 0)))
