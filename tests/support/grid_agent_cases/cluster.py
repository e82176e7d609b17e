"""Cases about the API server, about operands and about removal."""

from __future__ import annotations

from dataclasses import replace

from grid_agent.facts import (
    TOOLKIT,
    VALIDATOR,
    Pod,
)
from grid_agent.memory import Memory
from grid_agent.steps import State, Step
from tests.support.grid_agent_cases.case import (
    FRESH,
    NOW,
    OPEN,
    Case,
    working,
)
from tests.support.grid_agent_fake import wanted

CASES = [
    # The API server.
    Case("silent before any change", State.WAITING, "ApiUnreachable", Step.WAIT, node=None),
    Case("silent, driver proven", State.READY, "DriverVerified", Step.WAIT, host=working(), node=None, memory=Memory()),
    Case(
        "silent, gate closed", State.WAITING, "ApiUnreachable", Step.WAIT, "remains closed", host=working(), node=None
    ),
    # Operands that looked too early.
    Case(
        "validator waits forever",
        State.KICKING,
        "RestartingOperands",
        Step.DELETE_OPERAND,
        "validator-1",
        host=working(driver_ready="absent"),
        node=replace(
            OPEN, operands=(Pod("gpu-operator", "validator-1", "v", VALIDATOR, looking=True, begun=NOW - 60),)
        ),
        memory=Memory(driver_since=NOW - 30),
    ),
    Case(
        "validator that has just begun",
        State.READY,
        "DriverVerified",
        Step.WAIT,
        host=working(driver_ready="absent"),
        node=replace(OPEN, operands=(Pod("gpu-operator", "validator-1", "v", VALIDATOR, looking=True, begun=NOW - 5),)),
        memory=Memory(driver_since=NOW - 30),
    ),
    Case(
        "toolkit that found the driver in a container",
        State.KICKING,
        "RestartingOperands",
        Step.DELETE_OPERAND,
        host=working(driver_ready="container"),
        node=replace(OPEN, operands=(Pod("gpu-operator", "toolkit-1", "t", TOOLKIT, begun=NOW - 5),)),
        memory=Memory(driver_since=NOW - 30),
    ),
    Case(
        "device plugin from before the change",
        State.KICKING,
        "RestartingOperands",
        Step.DELETE_OPERAND,
        host=working(),
        node=replace(
            OPEN, operands=(Pod("gpu-operator", "plugin-1", "p", "nvidia-device-plugin-daemonset", begun=NOW - 60),)
        ),
        memory=Memory(driver_since=NOW - 30, changed=True),
    ),
    # Removal.
    Case("removal unloads", State.CLEANING, "Unload", Step.UNLOAD, host=working(), wanted=wanted(present=False)),
    Case("driver removed, options left", State.CONFIGURING, "Configure", Step.CONFIGURE, wanted=wanted(present=False)),
    Case(
        "removed",
        State.REMOVED,
        "Removed",
        Step.WAIT,
        host=replace(FRESH, configured=True),
        wanted=wanted(present=False),
    ),
]
