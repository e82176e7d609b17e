"""Cases of alerts about InfiniBand ports."""

from __future__ import annotations

from tests.support.alert_cases.case import AT_ND, Case
from tests.support.alert_series import port, rising, then

CASES = (
    Case("InfiniBandPortDown", 16, {port("node_infiniband_state_id"): then(4, 10, 1)}, labels=AT_ND),
    Case("InfiniBandPortDown", 12, {port("node_infiniband_state_id"): then(4, 10, 1)}),
    Case("InfiniBandLinkFlapping", 60, {port("node_infiniband_link_downed_total"): then(0, 10, 3)}, labels=AT_ND),
    Case("InfiniBandLinkFlapping", 60, {port("node_infiniband_link_downed_total"): then(0, 10, 2)}),
    Case("InfiniBandErrors", 60, {port("node_infiniband_port_errors_received_total"): rising(120)}, labels=AT_ND),
    Case("InfiniBandErrors", 60, {port("node_infiniband_port_errors_received_total"): rising(6)}),
    Case("InfiniBandSymbolErrors", 60, {port("node_infiniband_symbol_error_total"): then(0, 20, 20)}, labels=AT_ND),
    Case("InfiniBandSymbolErrors", 60, {port("node_infiniband_symbol_error_total"): then(0, 20, 9)}),
    Case(
        "InfiniBandLinkRecoveries",
        60,
        {port("node_infiniband_link_error_recovery_total"): then(0, 20, 20)},
        labels=AT_ND,
    ),
    Case("InfiniBandLinkRecoveries", 60, {port("node_infiniband_link_error_recovery_total"): then(0, 20, 9)}),
    Case(
        "InfiniBandLinkIntegrity",
        60,
        {port("node_infiniband_local_link_integrity_errors_total"): then(0, 20, 20)},
        labels=AT_ND,
    ),
    Case("InfiniBandLinkIntegrity", 60, {port("node_infiniband_local_link_integrity_errors_total"): then(0, 20, 9)}),
    Case(
        "InfiniBandBufferOverruns",
        60,
        {port("node_infiniband_excessive_buffer_overrun_errors_total"): then(0, 20, 20)},
        labels=AT_ND,
    ),
    Case(
        "InfiniBandBufferOverruns", 60, {port("node_infiniband_excessive_buffer_overrun_errors_total"): then(0, 20, 9)}
    ),
    Case(
        "InfiniBandTransmitDiscards",
        60,
        {port("node_infiniband_port_discards_transmitted_total"): then(0, 20, 200)},
        labels=AT_ND,
    ),
    Case("InfiniBandTransmitDiscards", 60, {port("node_infiniband_port_discards_transmitted_total"): then(0, 20, 99)}),
    Case("InfiniBandManagementDrops", 60, {port("node_infiniband_vl15_dropped_total"): then(0, 20, 200)}, labels=AT_ND),
    Case("InfiniBandManagementDrops", 60, {port("node_infiniband_vl15_dropped_total"): then(0, 20, 99)}),
    Case("InfiniBandTelemetryAbsent", 60, without=("node_infiniband_",), labels=AT_ND),
    Case("InfiniBandTelemetryAbsent", 15, without=("node_infiniband_",)),
)
