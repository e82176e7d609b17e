"""Health check of DCGM for a GPU without a present fault. Incidents come from Xids that DCGM remembers, and from the
type of the GPU's board. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from physical_ai import safe_yaml

DATA = Path(__file__).parent / "data" / "dcgm_health.yaml"


@dataclass(frozen=True)
class Incident:
    """Problem that one of DCGM's health watches has found. The exporter shows one incident for each watch."""

    watch: str
    status: int
    code: str


def incidents(exporter: str, product: str, xids: Iterable[int], *, mig: bool) -> Mapping[str, Incident]:
    """Incidents that DCGM reports for a GPU, by the name of the health watch.

    Args:
        exporter: Version of the exporter, such as `4.5.3-4.8.2`; the first half is DCGM's version.
        product: Product name of the GPU in the exporter's labels.
        xids: Xids that DCGM has read from the GPU since DCGM started.
        mig: True if the GPU is in MIG mode.
    """
    version, seen = _parts(exporter.partition("-")[0]), set(xids)
    rows = [row for row in _data()["xids"] if row["xid"] in seen]
    rows += [row for row in _data()["boards"] if product in row["products"] and not (mig and row.get("notWithMig"))]
    found: dict[str, Incident] = {}
    for row in rows:
        if _parts(row.get("since", "0")) <= version <= _parts(row.get("until", "99")):
            found[row["watch"]] = Incident(row["watch"], row["status"], row["code"])
    return found


@cache
def _data() -> dict[str, Any]:
    return safe_yaml.load(DATA.read_text(encoding="utf-8"))


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
