"""Reader of an output with two parts: the report of `nvidia-smi -q -x` or `nvidia-smi -q`, then the content of
/proc/driver/nvidia/version.

Acceptance and the agent of the GRID driver use the same reader, so that both judge a node alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from grid_agent.report.reading import EXIT_CODES, LOST, TROUBLE, Gpu, read_report, spelled
from grid_agent.report.tree import Unreadable
from workbench.health.acceptance.outputs.unrecognised import Unrecognised, last_line

SmiGpu = Gpu
__all__ = ["EXIT_CODES", "LOST", "Smi", "SmiGpu", "read_smi", "spelled"]


@dataclass(frozen=True)
class Smi:
    driver: str
    gpus: Sequence[SmiGpu]
    modules: Literal["open", "proprietary"]
    """License of the driver's kernel modules: open or proprietary."""
    warnings: Sequence[str] = ()
    """Lines outside of the report that warn of a problem."""


def read_smi(text: str) -> Smi:
    """Facts from nvidia-smi's report and from the driver's version file after it.

    Raises:
        Unrecognised: there is no report; or the report has fewer GPUs than it announces; or the version file is
            missing, so the report may be cut off.
    """
    try:
        report = read_report(text)
    except Unreadable as problem:
        said = next((line for line in text.splitlines() if TROUBLE.search(line)), text)
        raise Unrecognised(f"nvidia-smi printed no complete report: {problem}: {last_line(said)}") from problem
    if report.problems:
        raise Unrecognised(f"nvidia-smi printed no complete report: {'; '.join([*report.problems, *report.warnings])}")
    if report.modules not in ("open", "proprietary"):
        raise Unrecognised(f"the driver's version does not follow nvidia-smi's report: {last_line(text)}")
    return Smi(report.driver, report.gpus, report.modules, report.warnings)
