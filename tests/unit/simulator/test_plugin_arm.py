"""The simulated Azure Resource Manager beside the plain command's azure-native plugin."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from physical_ai.subscription.answers import Unanswered
from physical_ai.subscription.client import connected
from physical_ai.subscription.rest import AzureRest
from simulator import plugin
from simulator.azure import Cloud
from simulator.entra import DEPLOYER, SUBSCRIPTION_ID
from simulator.plugin import ARM_FILE, arm_address, serving_arm
from simulator.subscription import LIMITS_FILE, open_cloud
from tests.support.azure_fakes import MemoryHost


def opened(folder: Path) -> Cloud:
    return open_cloud(folder, MemoryHost())


def asked(address: str) -> AzureRest:
    return AzureRest(connected(DEPLOYER.object_id, address), SUBSCRIPTION_ID)


def test_it_answers_as_the_subscription_of_the_simulation_does(tmp_path: Path) -> None:
    limits = {"quota": {"cores": 4}, "registered": ["Microsoft.Compute"]}
    (tmp_path / LIMITS_FILE).write_text(json.dumps(limits))
    address = arm_address(tmp_path)
    with serving_arm(opened(tmp_path), DEPLOYER.object_id, address):
        assert asked(address).usages("westus2")["cores"].limit == 4
        assert asked(address).providers()["Microsoft.Cache"] == "NotRegistered"
    with pytest.raises(Unanswered):
        asked(address).usages("westus2")


def test_the_address_stays_the_same_unless_somebody_else_has_it(tmp_path: Path) -> None:
    address = arm_address(tmp_path)
    assert arm_address(tmp_path) == address
    with socket.create_server(("127.0.0.1", json.loads((tmp_path / ARM_FILE).read_text()))):
        assert arm_address(tmp_path) != address


def test_without_an_address_and_beside_another_plugin_nothing_is_served(tmp_path: Path) -> None:
    address = arm_address(tmp_path)
    with serving_arm(opened(tmp_path), DEPLOYER.object_id, ""), pytest.raises(Unanswered):
        asked(address).usages("westus2")
    with (
        serving_arm(opened(tmp_path), DEPLOYER.object_id, address),
        serving_arm(opened(tmp_path), DEPLOYER.object_id, address),
    ):
        assert asked(address).usages("westus2")


def test_the_variable_is_the_programs() -> None:
    from components.platform.first_questions import ARM_VARIABLE

    assert plugin.ARM_VARIABLE == ARM_VARIABLE
