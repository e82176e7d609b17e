"""Models of Helm charts for the real helm: templates written for the simulator, with upstream's names, values, objects
and CustomResourceDefinitions.
"""

from __future__ import annotations

from simulator.charts.crds import crds
from simulator.charts.models import materialise, modelled
from simulator.charts.source import NoModel, chart_models, chart_source

__all__ = ["NoModel", "chart_models", "chart_source", "crds", "materialise", "modelled"]
