"""Discrete-event simulation of a pool over a year: faults, crashes and evictions of single nodes, repairs, and jobs
that take nodes, write checkpoints and start again. It shares the numbers of a pool with the formula, and no
calculation.
"""

from workbench.goodput.simulation.accounts import Totals
from workbench.goodput.simulation.year import Year

__all__ = ["Totals", "Year"]
