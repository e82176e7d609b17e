"""Commands on a stack of which the cluster exists already: no traceback, and nothing that only Azure has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.readiness import Unusable
from physical_ai.settings import STACKS, deployed_to_azure
from workbench.cli.cluster_gates import changing_access
from workbench.cli.exit_codes import FINDINGS
from workbench.cli.main import run
from workbench.cli.pull_request.affected import own_files
from workbench.cli.requested_stack import read_stack

LAB = "onprem-lab"
OF_AZURE = ("azure", "westus2", "AKS", "region lab", "in lab")


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PHYSAI_HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    def call(*arguments: str, code: int = 0) -> str:
        assert run(list(arguments)) == code
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return printed.out if code in (0, FINDINGS) else printed.err

    return call


def test_cost_counts_nothing_of_azure_and_says_whose_the_servers_are(called: Any) -> None:
    found = json.loads(called("cost", LAB, "--change", "--json"))
    assert found["region"] is None
    assert found["monthly"] == {"asked": 0, "max": 0, "min": 0}
    assert [each["pool"] for each in found["unpriced"]] == ["cpu", "b200", "rtxpro"]
    (what,) = found["notCounted"]
    assert "what its owner pays" in what
    shown = called("cost", LAB)
    assert "on a cluster that exists already" in shown
    assert "no list price applies" in shown


def test_stacks_are_compared_with_it_among_them(called: Any) -> None:
    rows = {each["name"]: each for each in json.loads(called("stacks", "--json"))["stacks"]}
    assert rows[LAB]["region"] is None
    assert {each["name"]: each["gpusPerNode"] for each in rows[LAB]["pools"]} == {"cpu": 0, "b200": 8, "rtxpro": 8}


@pytest.mark.parametrize(
    "arguments", [("explain", LAB, "pools"), ("compat", LAB), ("time", LAB), ("osmo", "platforms", LAB)]
)
def test_what_only_reads_settings_works(called: Any, arguments: Sequence[str]) -> None:
    shown = called(*arguments)
    assert "rtxpro" in shown or arguments[0] == "time"
    assert [word for word in OF_AZURE if word in shown and arguments[0] != "time"] == []


def test_its_resources_break_no_policy(called: Any) -> None:
    found = json.loads(called("policy", LAB, "--json"))
    assert found["findings"] == []


def test_a_simulation_of_it_has_no_deployers_of_azure() -> None:
    assert "physical-ai:access" not in read_stack(LAB).input.config
    assert "physical-ai:access" in read_stack("dev-westus2").input.config


def test_check_asks_the_cluster_and_not_azure(called: Any) -> None:
    found = json.loads(called("check", LAB, "--json"))
    assert found["region"] is None
    assert "cannot be read" in found["whyNot"]
    assert {each["topic"] for each in found["findings"]} - {"plugin"} == {"chart"}


@pytest.mark.parametrize("arguments", [("gates", LAB), ("accept", LAB), ("why", "b200", LAB)])
def test_what_reads_a_cluster_says_how_to_name_it(called: Any, arguments: Sequence[str]) -> None:
    assert "--kubeconfig FILE" in called(*arguments, code=1)


def test_a_pool_has_no_region_to_be_in(called: Any) -> None:
    assert "exists already" in called("regions", "--stack", LAB, code=2)


def test_a_new_stack_of_this_kind_is_written_by_hand(called: Any) -> None:
    assert "docs/existing-clusters.md" in called("stack", "new", "other-lab", "--yes", code=2)
    assert "docs/existing-clusters.md" not in called("stack", "new", "dev-atlantis", "--yes", code=2)


def test_its_pull_requests_concern_its_own_layers_only() -> None:
    assert own_files(STACKS)[LAB] == {
        f"stacks/{name}.yaml" for name in (f"Pulumi.{LAB}", "layers/base", "layers/target/existing")
    }


def test_no_pipeline_deploys_it_to_azure() -> None:
    assert LAB not in deployed_to_azure()
    assert "seed-westus2" not in deployed_to_azure()
    assert "dev-westus2" in deployed_to_azure()


@pytest.mark.parametrize(
    ("more", "context"), [((), "onprem-lab"), (("--context", "other"), "other")], ids=["of the stack", "named"]
)
def test_a_real_cluster_is_read_through_the_context_of_its_stack(
    called: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: Sequence[str], context: str
) -> None:
    names = ("other", "onprem-lab")
    document = {
        "current-context": "third",
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in names],
        "clusters": [{"name": name, "cluster": {"server": "https://lab"}} for name in names],
        "users": [{"name": name, "user": {"token": "x"}} for name in names],
    }
    file, used = tmp_path / "config", list[str]()
    file.write_text(json.dumps(document))

    def connect(text: str) -> Any:
        used.append(yaml.safe_load(text)["current-context"])
        return lambda path, parameters: {"items": []}

    def refusing(text: str) -> Any:
        used.append(yaml.safe_load(text)["current-context"])
        raise Unusable("enough")

    monkeypatch.setattr("physical_ai.readiness.client.connect", connect)
    monkeypatch.setattr("physical_ai.readiness.client.connect_to_change", refusing)
    access = ("--kubeconfig", str(file), *more)
    # An empty cluster lacks OSMO's agents, among others.
    assert json.loads(called("doctor", LAB, *access, "--json", code=FINDINGS))["stack"] == LAB
    assert used == [context]
    with pytest.raises(Unusable):
        changing_access(LAB, file, read_stack(LAB).loaded.settings, more[1] if more else None)
    assert used == [context, context]


@pytest.mark.parametrize("command", [("gates",), ("doctor",), ("accept",), ("evidence", "b200-1"), ("unstick",)])
def test_a_context_needs_the_file_that_has_it(called: Any, command: Sequence[str]) -> None:
    assert "--kubeconfig" in called(*command, LAB, "--context", "other", code=2)


def test_a_file_without_the_context_of_the_stack_is_refused(called: Any, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("contexts: []")
    said = called("gates", LAB, "--kubeconfig", str(file), code=2)
    assert "has no context 'onprem-lab'" in said
