"""Reader of the output of `nvbandwidth`, which measures bandwidths between the host and GPUs, and between GPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from workbench.health.acceptance.outputs.unrecognised import Unrecognised, last_line

_RUNNING = re.compile(r"^\s*Running (\w+)\.\s*$")
_UNIT = re.compile(r"bandwidth \((\w+/s)\)\s*$")
_WAIVED = re.compile(r"^\s*waived\b", re.IGNORECASE | re.MULTILINE)
"""Line that nvbandwidth prints in place of a result if a test needs more GPUs (seen with nvbandwidth 0.8
and one GPU).
"""
_NUMBER = re.compile(r"^\d+(\.\d+)?$")


def read_nvbandwidth(text: str, tests: Sequence[str]) -> Mapping[str, Sequence[float]]:
    """Bandwidths in GB/s that each test measured, from the test's matrix row by row. Cells with N/A, which pair a GPU
    with itself, are left out.

    Raises:
        Unrecognised: a test of `tests` is missing or was waived, or its matrix has another unit or is incomplete.
    """
    blocks: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        found = _RUNNING.match(line)
        if found is not None:
            current = blocks.setdefault(found[1], [])
        else:
            current.append(line)
    missing = [test for test in tests if test not in blocks]
    if missing and _WAIVED.search(text):
        raise Unrecognised(f"nvbandwidth waived {', '.join(missing)}: the machine has not what the test needs")
    if missing:
        raise Unrecognised(f"nvbandwidth did not run {', '.join(missing)}: {last_line(text)}")
    return {test: _matrix(test, blocks[test]) for test in tests}


def _matrix(test: str, lines: Sequence[str]) -> list[float]:
    if any(_WAIVED.match(line) for line in lines[:3]):
        raise Unrecognised(f"nvbandwidth waived {test}: the machine has not what the test needs")
    units = [found[1] for line in lines if (found := _UNIT.search(line))]
    if units != ["GB/s"]:
        raise Unrecognised(f"nvbandwidth measured nothing in {test}: {last_line(chr(10).join(lines))}")
    at = next(index for index, line in enumerate(lines) if _UNIT.search(line))
    columns = lines[at + 1].split() if at + 1 < len(lines) else []
    if columns != [str(number) for number in range(len(columns))]:
        raise Unrecognised(
            f"nvbandwidth's matrix of {test} has other columns than its GPUs: {last_line(lines[at + 1])}"
        )
    values: list[float] = []
    rows, peers = 0, test.startswith("device_to_device")
    for line in lines[at + 2 :]:
        cells = line.split()
        if not cells or not cells[0].isdigit():
            break
        # A GPU has no bandwidth to itself. Any other missing number is an error.
        own = rows if peers else -1
        kept = [cell for place, cell in enumerate(cells[1:]) if not (cell == "N/A" and place == own)]
        if cells[0] != str(rows) or len(cells) != len(columns) + 1 or not all(map(_NUMBER.match, kept)):
            raise Unrecognised(f"nvbandwidth's matrix of {test} is incomplete: {last_line(line)}")
        rows += 1
        values += [float(cell) for cell in kept]
    # A matrix of peers is square; that of the host has one row.
    if not columns or not values or rows != (len(columns) if peers else 1):
        raise Unrecognised(f"nvbandwidth's matrix of {test} is incomplete")
    return values
