"""Keys that values files may not set, by chart, collected from the core's plans and from all optional parts."""

from __future__ import annotations

from collections.abc import Mapping

from parts.registry import PARTS
from physical_ai.catalog import (
    osmo,
)
from physical_ai.catalog.osmo_service import SERVICE_CHART
from physical_ai.planning import osmo as osmo_plan
from physical_ai.planning import (
    service_chart,
)
from physical_ai.planning.gpu_operator import values as gpu_values
from physical_ai.planning.gpu_operator.drivers import OWNED as DRIVER_OWNED
from physical_ai.planning.gpu_operator.files import CHART as GPU_OPERATOR

NVIDIA_DRIVER = "nvidia-driver"
"""Key of the table under which the fields of an NVIDIADriver are listed; they are not values of a chart."""

OWNED_VALUES: Mapping[str, Mapping[str, str]] = {
    GPU_OPERATOR: gpu_values.OWNED | gpu_values.OWNED_IF_MEASURED,
    NVIDIA_DRIVER: DRIVER_OWNED,
    osmo.KAI_CHART: osmo_plan.KAI_OWNED,
    osmo.BACKEND_CHART: osmo_plan.BACKEND_OWNED,
    SERVICE_CHART: service_chart.OWNED,
    **{chart: owners for part in PARTS for chart, owners in part.owned.items()},
}
