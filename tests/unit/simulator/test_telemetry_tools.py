"""Prometheus' own commands, as they are built for the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from simulator.tools import FAMILIES, TELEMETRY
from tests.support.promtool import promtool

RULE = {"alert": "GPULost", "expr": "up == 0", "for": "5m"}


def test_plain_up_does_not_build_prometheus() -> None:
    assert not {family.name for family in FAMILIES} & {family.name for family in TELEMETRY}


@pytest.mark.parametrize(("expression", "accepted"), [("up == 0", True), ("up ==", False)])
def test_promtool_checks_rules(tmp_path: Path, expression: str, accepted: bool) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "gpu", "rules": [{**RULE, "expr": expression}]}]}))
    assert (promtool("check", "rules", file).returncode == 0) is accepted
