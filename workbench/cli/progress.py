"""Progress of an engine run on stderr: the running operations, and a line for each finished one."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Self

from pulumi.automation.events import EngineEvent
from rich.console import RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table

from simulator.errors import EngineFailed
from simulator.tools import Progress as ToolProgress
from simulator.tools.reporting import ToolLines
from workbench.cli.changes import VERBS, Message, Run, Step
from workbench.cli.console import err
from workbench.cli.deleted_outside import advice, deleted_outside

PHASES = {
    "tools": "engine and control-plane programs",
    "control plane": "starting the Kubernetes control plane",
    "deploy": "deploying with the Pulumi engine",
    "preview": "previewing with the Pulumi engine",
    "refresh": "reading every resource with the Pulumi engine",
    "destroy": "destroying with the Pulumi engine",
    "cancel": "waiting for the run to end",
    "clean up": "removing the simulation",
}
ROWS = 8
"""Largest number of running operations that are shown at once."""


class Progress:
    """Implementation of `simulator.simulation.Reporter` that prints the progress of an engine run.

    On a terminal the last lines show the running operations. Elsewhere, as in CI, each finished step is one line.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.run = Run()
        self.seconds: dict[str, float] = {}
        """Duration of each finished phase in seconds."""
        self._quiet = quiet
        self._phase, self._phase_start = "", time.monotonic()
        self._tools = ToolLines(self._print_tool, regular=not err.is_terminal)
        self._lock = threading.Lock()
        self._live = Live(console=err, get_renderable=self._render, transient=True, refresh_per_second=8)

    def __enter__(self) -> Self:
        if err.is_terminal and not self._quiet:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()
        if isinstance(error, EngineFailed) and self.has_printed_errors:
            count = sum(message.severity == "error" for message in self.run.messages)
            word = "error" if count == 1 else "errors"
            again = "" if self._phase in ("preview", "refresh") else "; the next run continues from what was done"
            again = advice(deleted_outside(self.run.messages)) or again
            raise EngineFailed(f"{self._phase} failed with the {count} {word} above{again}") from None

    @property
    def has_printed_errors(self) -> bool:
        """True if the run has printed an error message, so that the reason for a failure is already known to the
        user.
        """
        return not self._quiet and any(message.severity == "error" for message in self.run.messages)

    def phase(self, name: str) -> None:
        now = time.monotonic()
        with self._lock:
            if self._phase:
                self.seconds[self._phase] = now - self._phase_start
            self._phase, self._phase_start = name, now

    def tool(self, progress: ToolProgress) -> None:
        self._tools.report(progress)  # without the lock: its output waits for a redraw, which waits for the lock

    def _print_tool(self, line: str) -> None:
        self._print(f"[dim]{escape(line)}[/]")

    def note(self, text: str) -> None:
        self._print(f"[yellow]note[/] {escape(text)}")

    def retry(self, why: str) -> None:
        with self._lock:
            self.run = Run()
        self.note(f"the connection to the engine was lost ({why}); starting again")

    def event(self, event: EngineEvent) -> None:
        with self._lock:
            added = self.run.add(event)
        if isinstance(added, Message):
            self._message(added)
        elif added is not None and added.seconds is not None and self._phase != "preview":
            self._finished(added)

    def _finished(self, step: Step) -> None:
        if step.op in ("read", "refresh"):
            return
        verb = f"[red]{VERBS[step.op][0]} failed[/]" if step.failed else f"[green]{VERBS[step.op][1]}[/]"
        self._print(f"{verb} {step.kind} [bold]{escape(step.name)}[/] [dim]{step.seconds or 0:.1f} s[/]")

    def _message(self, message: Message) -> None:
        colour = {"error": "red", "warning": "yellow"}.get(message.severity, "dim")
        label = "note" if message.severity.startswith("info") else message.severity
        place = f" [bold]{escape(message.urn.rsplit('::', 1)[-1])}[/]" if message.urn else ""
        text = escape(message.text.removeprefix("error: "))
        self._print(
            f"[{colour}]{label}[/]{place}\n{_indented(text)}" if "\n" in text else f"[{colour}]{label}[/]{place} {text}"
        )

    def _print(self, text: str) -> None:
        if self._quiet:
            return
        try:
            err.print(text)
        except (BrokenPipeError, SystemExit):
            # `physai up 2>&1 | head`: the reader closed the pipe, and the work continues. Rich would end the thread.
            self._quiet = True

    def _render(self) -> RenderableType:
        with self._lock:
            return self._rows()

    def _rows(self) -> RenderableType:
        grid = Table.grid(padding=(0, 1))
        elapsed = time.monotonic() - self._phase_start
        title = PHASES.get(self._phase, self._phase)
        grid.add_row(Spinner("dots"), f"{title} [dim]{elapsed:.0f} s[/]")
        if tool := self._tools.current():
            grid.add_row("", escape(tool))
            if (share := self._tools.share) is not None:
                grid.add_row("", ProgressBar(total=1, completed=share, width=40))
        running = [s for s in self.run.steps.values() if s.is_shown and s.seconds is None]
        for step in running[:ROWS]:
            seconds = time.monotonic() - step.start
            grid.add_row("", f"{VERBS[step.op][0]} {step.kind} [bold]{escape(step.name)}[/] [dim]{seconds:.0f} s[/]")
        if len(running) > ROWS:
            grid.add_row("", f"[dim]and {len(running) - ROWS} more[/]")
        return grid


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
