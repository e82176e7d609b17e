"""The file with limits and restrictions of a simulated subscription."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.errors import SimulationError
from simulator.subscription import LIMITS_FILE, open_cloud
from tests.support.azure_fakes import MemoryHost

DENIAL = {"name": "no", "type": "*", "path": "location", "values": ["westus2"]}


def test_limits_and_restrictions_are_read(tmp_path: Path) -> None:
    given = {"quota": {"cores": 4}, "restricted": {"Standard_D8ds_v5": ["1"]}, "denials": [DENIAL], "state": "Disabled"}
    (tmp_path / LIMITS_FILE).write_text(json.dumps(given))
    azure = open_cloud(tmp_path, MemoryHost()).azure()
    assert azure.limit("cores") == 4
    assert azure.restrictions.restricted == {"Standard_D8ds_v5": ["1"]}
    assert azure.restrictions.state == "Disabled"
    (denial,) = azure.restrictions.denials
    assert denial.denies("Microsoft.Network/virtualNetworks", {"location": "westus2"})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"restrictd": {}}, "`restrictd` is no limit of the simulated Azure; the keys are quota, capacity"),
        ({"denials": [{"name": "no"}]}, "write each as"),
        ({"denials": [{**DENIAL, "more": 1}]}, "write each as"),
    ],
)
def test_what_is_no_limit_is_said(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    (tmp_path / LIMITS_FILE).write_text(json.dumps(given))
    with pytest.raises(SimulationError, match=LIMITS_FILE) as refused:
        open_cloud(tmp_path, MemoryHost())
    assert words in str(refused.value)
