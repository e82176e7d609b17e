"""`physai policy`: findings over what a stack declares, and the exit codes that go with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from physical_ai.planning.service_chart import mek_problem
from physical_ai.settings.facts.osmo_access import MEK_SECRET
from simulator.home import HOME_VARIABLE
from tests.unit.cli.test_cli_commands import call
from workbench.cli.requested_stack import made_up
from workbench.policies import RULES

OPEN = ("--set", "cluster.apiAccess.authorizedIpRanges=[]")


def policy(*arguments: str) -> tuple[int, str, str]:
    return call("policy", *arguments)


def test_a_stack_without_findings_shows_the_number_of_rules() -> None:
    code, out, err = policy("dev-westus2")
    assert (code, out) == (0, "")
    assert f"{len(RULES)} rules over" in err
    assert "0 errors, 0 warnings" in err


def test_an_error_has_path_fix_reason_and_link() -> None:
    code, out, err = policy("prod-westus2", *OPEN)
    assert code == 3
    lines = out.splitlines()
    assert lines[0].startswith("error api-server-reach: ManagedCluster")
    assert "set cluster.apiAccess.authorizedIpRanges" in lines[1]
    assert "https://learn.microsoft.com/" in lines[2]
    assert "1 error, 0 warnings" in err


def test_a_warning_counts_only_when_requested() -> None:
    wasteful = ("dev-westus2", "--set", "pools.h100gpu.priority=Regular")
    assert policy(*wasteful)[0] == 0
    assert policy(*wasteful, "--severity", "warning")[0] == 3


def test_as_data_a_finding_has_its_rule_and_path() -> None:
    code, out, _ = policy("prod-westus2", *OPEN, "--json")
    document: dict[str, Any] = json.loads(out)
    assert code == 3
    (finding,) = document["findings"]
    assert (finding["rule"], finding["severity"], finding["topic"]) == ("api-server-reach", "error", "security")
    assert finding["path"] == "apiServerAccessProfile"
    assert finding["link"].startswith("https://")
    assert document["resources"] > 30


def test_what_a_first_preview_knows_is_enough_to_judge() -> None:
    code, out, _ = policy("prod-westus2", *OPEN, "--preview", "--json")
    assert code == 3
    assert [each["rule"] for each in json.loads(out)["findings"]] == ["api-server-reach"]


def test_the_rules_can_be_listed() -> None:
    assert {each["id"] for each in json.loads(policy("--list", "--json")[1])["rules"]} == {rule.id for rule in RULES}
    assert "spot-in-dev" in policy("--list")[1]


@pytest.mark.parametrize("stack", ["dev-nowhere", "dev"])
def test_a_stack_that_is_not_there_is_wrong_input(stack: str) -> None:
    assert policy(stack)[0] == 2


def test_a_wrong_setting_is_wrong_input_and_no_finding() -> None:
    code, out, err = policy("dev-westus2", "--set", "pools.h100gpu.skuu=x")
    assert (code, out) == (2, "")
    assert "Did you mean 'sku'" in err


def test_a_refusal_of_the_program_keeps_its_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    monkeypatch.setattr("physical_ai.catalog.chart_archives.ARCHIVES", tmp_path)
    (tmp_path / "gpu-operator-v26.7.1.tgz").write_bytes(b"tampered with")
    code, out, err = policy("dev-westus2", "--set", "charts.source=cache")
    assert (code, out) == (1, "")
    assert "physai charts pull dev-westus2" in err
    assert "Traceback" not in err


def test_a_made_up_master_key_is_one_that_the_program_takes() -> None:
    assert mek_problem(made_up(MEK_SECRET)) is None
    assert made_up("another") == "simulated-another"
