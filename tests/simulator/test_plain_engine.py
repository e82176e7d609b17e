"""The program under the plain engine, which starts the stand-ins as plugins."""

from __future__ import annotations

import json

import pytest
from pulumi.automation.events import EngineEvent

from simulator.engine import Engine
from simulator.kubelogin import PRINCIPAL_VARIABLE
from simulator.kubernetes_plugin import STAND_IN
from simulator.plugin import ARM_VARIABLE
from simulator.session import SIMULATED
from simulator.simulation import Simulation
from simulator.subscription import LIMITS_FILE
from simulator.tools import toolbox

WOULD_STOP = "A deployment would stop before its first resource"


@pytest.mark.deep
def test_it_asks_the_simulated_azure_before_its_first_resource(
    running: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tests/unit/simulator/test_plugin_arm.py` has the plugin's part of it."""
    environment = running.environment()
    assert environment[ARM_VARIABLE].startswith("http://127.0.0.1:")
    for name, value in {**environment, **SIMULATED}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(PRINCIPAL_VARIABLE, raising=False)
    kubelogin = running.folder / "bin" / "kubelogin"
    engine = Engine(running.folder, running.stack, toolbox(running.home.tools), kubelogin, STAND_IN)
    said: list[list[str]] = []
    limits = running.folder / LIMITS_FILE
    for given in ({}, {"registered": ["Microsoft.Compute"]}):
        limits.write_text(json.dumps(given))
        events: list[EngineEvent] = []
        engine.preview(None, events.append)
        messages = [each.diagnostic_event.message for each in events if each.diagnostic_event is not None]
        said.append([each for each in messages if WOULD_STOP in each])
    limits.unlink()
    assert said[0] == []
    assert "Microsoft.ContainerService" in " ".join(said[1])
