"""The examples of docs/networks.md: each is a stack that the program declares without a finding."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from physical_ai.repository import ROOT
from tests.unit.conftest import Simulate
from workbench.policies import evaluate

PAGE = (ROOT / "docs" / "networks.md").read_text()
WRITTEN: list[dict[str, Any]] = [yaml.safe_load(each) for each in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
EXAMPLES = [each for each in WRITTEN if "mode" in each["network"]]
"""Those that are whole: others show a part of one."""
UPSTREAMS = ["nvcr.io", "ghcr.io", "quay.io", "registry.k8s.io", "public.ecr.aws", "mcr.microsoft.com"]
DATA: dict[str, Any] = {
    "dataServices": {"source": "azure", "registry": {"only": True, "upstreams": UPSTREAMS}},
    "gridDriver": {"imageRegistry": "public.ecr.aws/docker"},
}
"""As in the private production stack: its nodes pull from its own registry only."""


def test_the_page_has_an_example_for_each_way_in() -> None:
    ways = [set(each["network"]["private"]) & {"vpn", "hub", "runnersInside"} for each in EXAMPLES]
    assert ways == [{"vpn"}, {"hub"}, {"runnersInside"}]


@pytest.mark.parametrize("example", EXAMPLES, ids=["vpn", "hub", "integrated"])
def test_an_example_over_production_breaks_no_policy(simulate: Simulate, example: dict[str, Any]) -> None:
    stack = simulate("prod-westus2", {**example, **DATA})
    assert stack.of_type("PrivateEndpoint")
    assert [str(each) for each in evaluate(stack.stack)] == []
