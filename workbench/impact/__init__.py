"""Impact of planned changes on running work: which workflows and Pods a change ends, restarts or delays, how many
GPU-hours are lost, and for how long GPUs are missing.
"""

from workbench.impact.aks_upgrades import Budgets
from workbench.impact.changes import Change
from workbench.impact.judging import Effect, Fate, Impact, judge
from workbench.impact.situation import Situation, read_situation
from workbench.impact.work import Work

__all__ = ["Budgets", "Change", "Effect", "Fate", "Impact", "Situation", "Work", "judge", "read_situation"]
