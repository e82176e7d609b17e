"""Bandwidth between host and GPUs: `nvbandwidth`, and `bandwidthTest` of the CUDA samples before 12.9."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from physical_ai.health.acceptance.outputs.unrecognised import Unrecognised, last_line

_RUNNING = re.compile(r"^\s*Running (\w+)\.\s*$")
_UNIT = re.compile(r"bandwidth \((\w+/s)\)\s*$")
_NUMBER = re.compile(r"^\d+(\.\d+)?$")
_NAMES = {"Host to Device": "host_to_device_memcpy_ce", "Device to Host": "device_to_host_memcpy_ce"}


def read_nvbandwidth(text: str, tests: Sequence[str]) -> Mapping[str, Sequence[float]]:
    """GB/s of each pair in the matrix of each test, row by row; the diagonal of a matrix of peers is N/A and left out.

    Raises:
        Unrecognised: one of `tests` is missing, was waived, has another unit, or an incomplete matrix.
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
    if missing:
        raise Unrecognised(f"nvbandwidth did not run {', '.join(missing)}: {last_line(text)}")
    return {test: _matrix(test, blocks[test]) for test in tests}


def _matrix(test: str, lines: Sequence[str]) -> list[float]:
    units = [found[1] for line in lines if (found := _UNIT.search(line))]
    if units != ["GB/s"]:
        raise Unrecognised(f"nvbandwidth measured nothing in {test}: {last_line(chr(10).join(lines))}")
    at = next(index for index, line in enumerate(lines) if _UNIT.search(line))
    columns = lines[at + 1].split() if at + 1 < len(lines) else []
    values: list[float] = []
    rows = 0
    for line in lines[at + 2 :]:
        cells = line.split()
        if not cells or not cells[0].isdigit():
            break
        if len(cells) != len(columns) + 1 or any(cell != "N/A" and not _NUMBER.match(cell) for cell in cells[1:]):
            raise Unrecognised(f"nvbandwidth's matrix of {test} is incomplete: {line.strip()}")
        rows += 1
        values += [float(cell) for cell in cells[1:] if cell != "N/A"]
    # Peers are a square; the host is one row.
    if not columns or not values or rows != (len(columns) if test.startswith("device_to_device") else 1):
        raise Unrecognised(f"nvbandwidth's matrix of {test} is incomplete")
    return values


def read_bandwidth_test(text: str) -> Mapping[str, Sequence[float]]:
    """GB/s of the largest transfer in each direction, under the names of nvbandwidth.

    Raises:
        Unrecognised: a direction is missing, or the result is not PASS.
    """
    if not re.search(r"^Result = PASS\s*$", text, re.MULTILINE):
        raise Unrecognised(f"bandwidthTest did not end with PASS: {last_line(text)}")
    found: dict[str, Sequence[float]] = {}
    for title, name in _NAMES.items():
        block = re.search(
            rf"^\s*{title} Bandwidth.*?Bandwidth\((\w+/s)\)\s*\n((?:\s*\d+\s+[\d.]+\s*\n?)+)",
            text,
            re.MULTILINE | re.DOTALL,
        )
        if block is None or block[1] not in ("GB/s", "MB/s"):
            raise Unrecognised(f"bandwidthTest printed no bandwidth from {title.lower()}")
        largest = float(block[2].split()[-1])
        found[name] = [largest if block[1] == "GB/s" else largest / 1000]
    return found
