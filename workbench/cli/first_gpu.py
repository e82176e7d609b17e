"""Time to the first GPU of a stack: its inputs for commands, from the program, the settings and a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.console import err
from workbench.first_gpu.graph import NOTHING, Measured
from workbench.first_gpu.pools import declared_pools, existing_pools
from workbench.first_gpu.report import Report, report

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from workbench.policies import Stack as Declared


def first_gpu(settings: Settings, declared: Declared, measured: Measured = NOTHING) -> Report:
    """The times of a stack's pools. On an existing cluster, only those of one more node."""
    from physical_ai.settings.facts.created import creates_cluster

    pools = declared_pools(declared.resources) if creates_cluster(settings) else existing_pools(settings)
    return report(declared.resources, pools, measured)


def measured_in(file: Path | None, stack: str) -> Measured:
    """Minutes that a recording shows; nothing without a recording, or for one of a simulated cluster, whose times
    are not those of Azure.

    Raises:
        typer.BadParameter: the recording is of another stack.
        typer.Exit: the file is not a recording.
    """
    if file is None:
        return NOTHING
    from workbench.cli.recorded import opened
    from workbench.recordings.durations import durations
    from workbench.recordings.node_durations import node_durations

    recorded = opened(file, stack)
    if recorded.recording.simulated:
        err.print(f"{file}: a simulated cluster, whose times are not those of Azure; they do not count here",
                  markup=False, style="yellow", soft_wrap=True)  # fmt: skip
        return NOTHING
    source = f"{file.name}, {recorded.recording.recorded_at}"
    return Measured(durations(recorded.recording), node_durations(recorded.recording), source)
