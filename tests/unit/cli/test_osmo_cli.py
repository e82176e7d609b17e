"""`physai lint` and `physai osmo`: what they print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from physical_ai.repository import ROOT
from tests.support.paths import SAMPLES
from tests.support.stacks import sweep
from tests.unit.osmo.test_osmo_lint import EXAMPLES
from workbench.cli.main import run
from workbench.osmo.lint import RULES
from workbench.osmo.lint.document import FILE, document

BAD = str(EXAMPLES / "gpu-capabilities" / "fail.yaml")
GOOD = str(EXAMPLES / "gpu-capabilities" / "pass.yaml")


@pytest.mark.parametrize("stack", sweep(["dev-westus2", "staging-westus2", "prod-westus2", "seed-westus2"]))
def test_the_samples_are_right_for_every_stack(stack: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", str(SAMPLES), "--stack", stack]) == 0
    assert f"6 files checked against {stack}: 0 errors, 0 warnings" in capsys.readouterr().err


def test_the_samples_are_still_right_with_what_they_offer_to_set() -> None:
    training = str(SAMPLES / "isaac-lab-training.yaml")
    assert (
        run(["lint", training, "--set", "checkpoints=s3://models/run", "--set", "helper=https://example.com/h.whl"])
        == 0
    )
    assert run(["lint", str(SAMPLES / "cuda-smoke.yaml"), "--set", "platform=rtxpro"]) == 0


def test_a_finding_is_reported_with_its_reason_and_its_fix(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", BAD]) == 3
    reported = capsys.readouterr().err
    assert f"{BAD}:10:5: warning gpu-capabilities: 'train' uses a GPU" in reported.replace("\n", " ")
    assert "CUDA but no Vulkan" in reported
    assert "environment: {NVIDIA_DRIVER_CAPABILITIES: all}" in reported
    assert "platform 'h100' sets it to all" in reported
    assert "1 file checked against dev-westus2: 0 errors, 1 warning" in reported


def test_the_document_has_stable_keys_and_nothing_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", BAD, GOOD, "--json"]) == 3
    captured = capsys.readouterr()
    reported = json.loads(captured.out)
    assert sorted(reported) == ["context", "files", "pool", "schemaVersion"]
    assert [file["kind"] for file in reported["files"]] == ["workflow", "workflow"]
    (finding,) = reported["files"][0]["findings"]
    assert sorted(finding) == ["column", "file", "fix", "line", "message", "reason", "rule", "severity", "source"]
    assert reported["files"][1]["findings"] == []
    assert captured.err == ""


def test_github_shows_it_at_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", BAD, "--format", "github"]) == 3
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"::warning file={BAD},line=10,col=5,title=gpu-capabilities%3A ")


def test_warnings_count_unless_errors_alone_are_requested() -> None:
    warned = str(EXAMPLES / "image-digest" / "fail.yaml")
    assert run(["lint", warned]) == 3
    assert run(["lint", warned, "--severity", "error"]) == 0


def test_render_prints_the_pods_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", str(SAMPLES / "train-and-evaluate.yaml"), "--render"]) == 0
    pods = list(yaml.safe_load_all(capsys.readouterr().out))
    assert [(pod["kind"], pod["spec"]["nodeSelector"]) for pod in pods] == [
        ("Pod", {"agentpool": "h100gpu"}),
        ("Pod", {"agentpool": "rtxprogpu"}),
    ]


def test_objects_prints_all_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", str(SAMPLES / "cpu-task.yaml"), "--objects", "--json"]) == 0
    (group,) = json.loads(capsys.readouterr().out)["files"][0]["groups"]
    kinds = [item["kind"] for item in group["objects"]]
    assert kinds == ["Secret"] * 7 + ["PodGroup", "Pod"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nosuch.yaml"], "does not exist"),
        ([GOOD, "--stack", "dev-mars"], "no such stack file"),
        ([GOOD, "--pool", "h100"], "no OSMO pool 'h100'"),
        ([GOOD, "--setting", "pools.h100gpu.skew=1"], "skew"),
        ([GOOD, "--values", "nosuch.yaml"], "the file does not exist"),
        ([], "FILES…: no file was given"),
    ],
)
def test_a_wrong_input_is_reported_and_ends_with_two(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lint", *arguments]) == 2
    assert expected in " ".join(capsys.readouterr().err.split())


def test_a_folder_without_workflows_is_no_success(tmp_path: Path) -> None:
    assert run(["lint", str(tmp_path)]) == 2


def test_a_workflow_can_be_held_to_values_of_someone_elses_service(tmp_path: Path) -> None:
    other = tmp_path / "values.yaml"
    other.write_text((EXAMPLES / "config-name" / "pass.yaml").read_text())
    assert run(["lint", GOOD, "--values", str(other)]) == 0
    on_rtx = tmp_path / "rtx.yaml"
    on_rtx.write_text(Path(GOOD).read_text().replace("platform: h100", "platform: rtxpro"))
    assert run(["lint", str(on_rtx)]) == 0
    assert run(["lint", str(on_rtx), "--values", str(other)]) == 3


def test_values_that_the_service_would_not_load_are_a_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", GOOD, "--values", str(EXAMPLES / "config-loads" / "fail.yaml")]) == 2
    assert "max_tasks" in capsys.readouterr().err


def test_the_values_file_is_one_that_the_check_finds_right(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    assert run(["osmo", "values", "prod-westus2", "--output", str(file)]) == 0
    assert yaml.safe_load(file.read_text())["services"]["configs"]["enabled"] is True
    assert run(["lint", str(file)]) == 0


def test_values_go_to_stdout_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["osmo", "values"]) == 0
    assert "platform-rtxpro" in yaml.safe_load(capsys.readouterr().out)["services"]["configs"]["podTemplates"]


def test_a_pool_that_is_added_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    size = "sku: Standard_NV36ads_A10_v5, driver: {source: grid}, scale: {min: 0, max: 1}"
    assert run(["osmo", "platforms", "--set", f"pools.a10gpu={{{size}, subnet: 10.40.3.0/26}}", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)["platforms"]] == ["cpu", "h100", "rtxpro", "a10"]


def test_the_page_on_rules_is_up_to_date_and_complete() -> None:
    assert FILE.read_text() == document(), "run python -m workbench.osmo.lint.document"
    assert all(f"### {rule}\n" in FILE.read_text() for rule in RULES)


def test_the_hook_for_other_repositories_runs_the_check() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"] == "physai lint"
    assert hook["id"] == "physai-lint"


@pytest.mark.parametrize(("command", "instead"), [("lint", "--setting"), ("run", "physai up --set")])
def test_a_setting_of_the_stack_is_no_variable_of_a_template(
    command: str, instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Elsewhere `--set` changes a stack's settings: here it would have no effect."""
    assert run([command, GOOD, "--set", "pools.h100gpu.scale.max=2"]) == 2
    said = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "'pools.h100gpu.scale.max' is no variable of a template" in said
    assert f"{instead} pools.h100gpu.scale.max=2" in said
