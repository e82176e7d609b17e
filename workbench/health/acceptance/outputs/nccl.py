"""Reader of the table of nccl-tests, such as `all_reduce_perf` (NVIDIA/nccl-tests src/common.cu and src/util.cu)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.health.acceptance.outputs.unrecognised import Unrecognised, last_line

_ROW = re.compile(r"(\d+)\s+\d+\s+\w+\s+\w+\s+-?\d+((?:\s+\S+){8})")
_LIKE_A_ROW = re.compile(r"\d+\s+\d+\s+\w+\s+\w+\s")
_SIZES = re.compile(r"^# .*\bminBytes (\d+) maxBytes (\d+) step: (\d+)\((factor|bytes)\)", re.MULTILINE)
_WRONG = re.compile(r"^# Out of bounds values\s*:\s*(\S+)\s+(\w+)", re.MULTILINE)
_AVERAGE = re.compile(r"^# Avg bus bandwidth\s*:\s*(\S+)", re.MULTILINE)
_RANK = re.compile(r"^#\s+Rank\s+(\d+)\s", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
"""Number as `%d`, `%g` and `%6g` print it; for example, 1234567 wrong elements are printed as 1.23457e+06."""


@dataclass(frozen=True)
class Nccl:
    """Result of one run of nccl-tests, from the table that it prints."""

    ranks: int
    rows: int
    """Number of message sizes in the table."""
    wrong: int
    """Number of wrong values: values out of bounds and wrong elements, counted over in-place and out-of-place
    operations.
    """
    bus_gb_s: float
    """Average bus bandwidth in GB/s."""


def read_nccl(text: str) -> Nccl:
    """The result of a run of nccl-tests with `-c 1`, which checks the values.

    Raises:
        Unrecognised: the table has no row, its beginning or end is missing, a row is cut, or results were not checked
            (N/A) and none is known to be wrong.
    """
    out_of_bounds, averages, rows = _WRONG.findall(text), _AVERAGE.findall(text), _rows(text)
    if not out_of_bounds or not averages or not rows:
        raise Unrecognised(f"nccl-tests printed no complete table: {last_line(text)}")
    counted = [cell for _, cells in rows for cell in (cells[3], cells[7])]
    wrong = sum(_number(cell, "count of wrong elements") for cell in counted if cell != "N/A")
    wrong += sum(_number(count, "count of values out of bounds") for count, _ in out_of_bounds)
    if any(word != "OK" for _, word in out_of_bounds):
        wrong = max(wrong, 1)
    if not wrong and "N/A" in counted:
        raise Unrecognised("nccl-tests did not check the results; run it with -c 1")
    _expect_sizes(text, [size for size, _ in rows])
    average = min(_number(each, "average bus bandwidth") for each in averages)
    return Nccl(len(set(_RANK.findall(text))), len(rows), math.ceil(wrong), average)


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Message size in bytes, and the further cells, of each row: time, bandwidths and wrong elements, first for the
    out-of-place operation, then for the in-place operation.
    """
    found: list[tuple[int, list[str]]] = []
    for line in text.splitlines():
        row = _ROW.fullmatch(line.strip())
        if row is not None:
            found.append((int(row[1][:20]), row[2].split()))
        elif _LIKE_A_ROW.match(line.strip()):
            raise Unrecognised(f"a row of nccl-tests' table has another form: {last_line(line)}")
    return found


def _number(text: str, what: str) -> float:
    found = float(text) if _NUMBER.fullmatch(text) else math.inf
    if not math.isfinite(found):
        raise Unrecognised(f"nccl-tests printed no number as {what}: {last_line(text)}")
    return found


def _expect_sizes(text: str, sizes: Sequence[int]) -> None:
    """Raises Unrecognised if `sizes` (the table's rows, in bytes) lack the first or the last size that the head of the
    output announces."""
    for least, most, step, kind in _SIZES.findall(text):
        following = max(sizes) * int(step) if kind == "factor" else max(sizes) + int(step)
        if min(sizes) > int(least) or (following <= int(most) and int(step) > (kind == "factor")):
            announced = f"its head announces {least} to {most}"
            raise Unrecognised(f"nccl-tests' table has {min(sizes)} to {max(sizes)} bytes, and {announced}")
