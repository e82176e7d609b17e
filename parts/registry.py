"""The list of all optional parts, in the order in which a stack declares them."""

from __future__ import annotations

from parts.part import Part
from parts.slurm.part import SLURM

PARTS: tuple[Part, ...] = (SLURM,)
