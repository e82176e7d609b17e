"""The table of nccl-tests, such as `all_reduce_perf`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from physical_ai.health.acceptance.outputs.unrecognised import Unrecognised, last_line

_ROW = re.compile(r"^\s*(\d+)\s+\d+\s+\w+\s+\w+\s+-?\d+((?:\s+\S+){8})\s*$")
_WRONG = re.compile(r"^# Out of bounds values\s*:\s*(\d+)\s+(\w+)", re.MULTILINE)
_AVERAGE = re.compile(r"^# Avg bus bandwidth\s*:\s*([\d.]+)", re.MULTILINE)
_RANK = re.compile(r"^#\s+Rank\s+(\d+)\s", re.MULTILINE)


@dataclass(frozen=True)
class Nccl:
    """The result of one run."""

    ranks: int
    rows: int
    """Message sizes."""
    wrong: int
    """Values out of bounds and wrong elements together, in and out of place."""
    bus_gb_s: float
    """Average bus bandwidth."""


def read_nccl(text: str) -> Nccl:
    """The result of a run with `-c 1`.

    Raises:
        Unrecognised: the table has no row, its end is missing, or results were not checked (N/A).
    """
    out_of_bounds, average = _WRONG.search(text), _AVERAGE.search(text)
    rows = [found[2].split() for line in text.splitlines() if (found := _ROW.match(line))]
    if out_of_bounds is None or average is None or not rows:
        raise Unrecognised(f"nccl-tests printed no complete table: {last_line(text)}")
    counted = [cell for row in rows for cell in (row[3], row[7])]
    if not all(cell.isdigit() for cell in counted):
        raise Unrecognised("nccl-tests did not check the results; run it with -c 1")
    wrong = int(out_of_bounds[1]) + sum(int(cell) for cell in counted)
    if out_of_bounds[2] != "OK":
        wrong = max(wrong, 1)
    return Nccl(len(set(_RANK.findall(text))), len(rows), wrong, float(average[1]))
