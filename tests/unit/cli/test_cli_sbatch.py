"""`physai lint --from-sbatch`: what it writes, reports and ends with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.support.paths import ROOT
from workbench.cli.main import run

TRAIN = ROOT / "tests" / "fixtures" / "osmo" / "sbatch" / "train.sbatch"
SMALL = "#!/bin/bash\n#SBATCH --time=10\n"
IMAGE = "example.com/tool:1.0@sha256:" + "0" * 64


def small(tmp_path: Path, lines: str = "echo done") -> str:
    path = tmp_path / "small.sbatch"
    path.write_text(f"{SMALL}{lines}\n")
    return str(path)


def test_a_script_becomes_a_workflow_on_stdout_that_was_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lint", "--from-sbatch", small(tmp_path), "--image", IMAGE]) == 0
    captured = capsys.readouterr()
    (task,) = yaml.safe_load(captured.out)["workflow"]["tasks"]
    assert task["image"] == IMAGE
    assert "1 file checked against dev-westus2: 0 errors, 0 warnings" in captured.err
    assert "there is one platform: cpu" in captured.err


def test_it_is_written_to_a_new_file_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "small.yaml"
    command = ["lint", "--from-sbatch", small(tmp_path), "--image", IMAGE, "-o", str(output)]
    assert run(command) == 0
    assert capsys.readouterr().out == ""
    assert run(["lint", str(output)]) == 0
    output.write_text("edited")
    assert run(command) == 2
    assert output.read_text() == "edited"
    assert "exists already" in capsys.readouterr().err.replace("\n", " ")


def test_findings_of_the_workflow_count_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", "--from-sbatch", str(TRAIN), "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["sbatch"]["converted"] is True
    assert {each["severity"] for each in found["sbatch"]["findings"]} == {"info"}
    assert found["workflow"]["workflow"]["resources"]["default"]["platform"] == "h100"
    (file,) = found["files"]
    assert file["file"] == "train.yaml"
    assert {each["severity"] for each in file["findings"]} == {"warning"}


def test_what_can_not_be_carried_over_is_named_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", "--from-sbatch", small(tmp_path, "module load cuda"), "--image", IMAGE]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "small.sbatch:3: error sbatch-script: a container has no modules" in captured.err


def test_a_line_of_the_script_is_no_command_of_a_pipeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = small(tmp_path, "cat <<'END'\n::error::made up\nEND")
    assert run(["lint", "--from-sbatch", script, "--image", IMAGE]) == 0
    written = capsys.readouterr().out
    assert not any(line.strip().startswith("::") for line in written.splitlines())
    assert "::error::made up" in yaml.safe_load(written)["workflow"]["tasks"][0]["files"][0]["contents"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "no file was given"),
        (["--image", "a:1"], "are for a script"),
        (["--from-sbatch", "nowhere.sbatch"], "does not exist"),
        (["--from-sbatch", str(TRAIN), str(TRAIN)], "not both"),
        (["--from-sbatch", str(TRAIN), "-o", "/nowhere/a.yaml"], "can't be written"),
    ],
)
def test_a_wrong_command_line_is_refused(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lint", *arguments]) == 2
    assert problem in capsys.readouterr().err.replace("\n", " ")
