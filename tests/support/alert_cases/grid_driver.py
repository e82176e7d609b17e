"""Cases of alerts about the GRID driver and its licence."""

from __future__ import annotations

from tests.support.alert_cases.case import AT_RTX, Case
from tests.support.alert_series import RTX, always, dcgm, of, then

CASES = (
    Case("GridDriverNotReady", 41, {of("grid_driver_ready", RTX): then(1, 10, 0)}, labels=AT_RTX),
    Case("GridDriverNotReady", 35, {of("grid_driver_ready", RTX): then(1, 10, 0)}),
    Case("GridDriverRolledBack", 11, {of("grid_driver_rolled_back", RTX): then(0, 10, 1)}, labels=AT_RTX),
    Case("GridDriverRolledBack", 60, {of("grid_driver_ready", RTX): always(0)}),
    Case("GridAgentFailing", 21, {of("grid_driver_agent_faults", RTX): then(0, 10, 4)}, labels=AT_RTX),
    Case("GridAgentFailing", 60, {of("grid_driver_agent_faults", RTX): always(3)}),
    Case("GridAgentAbsent", 60, without=("grid_driver_",), labels=AT_RTX),
    Case("GridAgentAbsent", 15, without=("grid_driver_",)),
    # An agent that needs the licence is not ready without it.
    Case(
        "GridLicenseMissing",
        26,
        {of("grid_driver_licensed", RTX): then(1, 10, 0), of("grid_driver_ready", RTX): then(1, 10, 0)},
        labels=AT_RTX,
    ),
    Case(  # no driver is installed yet
        "GridLicenseMissing",
        60,
        {of("grid_driver_licensed", RTX): always(0), of("grid_driver_info", RTX, installed=""): always(1)},
        without=("grid_driver_info",),
    ),
    Case("GridLicenseMissingByDCGM", 60, {dcgm("DCGM_FI_DEV_VGPU_LICENSE_STATUS", RTX): then(1, 10, 0)}, labels=AT_RTX),
    Case("GridLicenseMissingByDCGM", 20, {dcgm("DCGM_FI_DEV_VGPU_LICENSE_STATUS", RTX): then(1, 10, 0)}),
)
