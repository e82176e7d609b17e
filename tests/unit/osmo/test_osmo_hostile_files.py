"""Files that a pull request can bring to harm the machine that checks them."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import pytest
import yaml

from physical_ai.settings import load
from tests.unit.osmo.test_osmo_lint import EXAMPLES
from workbench.cli.main import run
from workbench.osmo.lint import Checked, check_files, of_stack
from workbench.osmo.service.configuration import Configuration
from workbench.osmo.workflow.submission import MOST_SECONDS, limit_of

HEAD = """workflow:
  name: w
  resources:
    default: {platform: cpu, cpu: 1, memory: 4Gi, storage: 10Gi}
  tasks:
  - name: t
    image: registry.example/x:1@sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef
    command: [x]
"""
DIGITS = "1" * 40

HOSTILE = {
    "exit codes": f"{HEAD}    exitActions: {{FAIL: '{DIGITS}x'}}\n",
    "tokens": f"{HEAD}    args: ['{{{{ input:{'{{ input:' * 60_000}']\n",
    "slow": f"{HEAD}    args: ['{{% raw %}}{'{{ input:' * 60_000}{{% endraw %}}']\n",
    "image": HEAD.replace("registry.example/x:1", "a." * 60_000 + "_"),
    "regular expression": f"{HEAD}    inputs: [{{url: s3://a/b, regex: 'a{{99999999999}}'}}]\n",
    "deep regular expression": f"{HEAD}    inputs: [{{url: s3://a/b, regex: '{'(' * 5000}'}}]\n",
    "codes of many digits": f"{HEAD}    exitActions: {{FAIL: '{'1' * 5000}-1'}}\n",
    "dates": "workflow:\n  2001-01-01: {2001-01-01: !!set {a}}\n",
    "odd keys": "workflow: {name: w, tasks: [{1: 2, null: 3, true: 4, 1.5: 5, [a]: 6}]}\n",
    "tags": "workflow: {name: !!binary aGk=, tasks: !!omap [a: 1], groups: !!pairs [a: 1]}\n",
    "key of defaults": "default-values:x: 1\nworkflow:\n  name: {{ x }}\n",
    "surrogates": 'default-values: {x: 1}\nworkflow:\n  name: {{ "\\ud800" }}\n',
    "values": "services: {configs: {pools: {default: {platforms: {a: 5}}, 7: 8}, workflow: [1]}}\n",
}


def linted(path: Path, folder: Path) -> Checked:
    (checked,) = check_files({path: folder}, of_stack(load("dev-westus2").settings), complete=True)
    return checked


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for name, text in HOSTILE.items():
        (folder / f"{name}.yaml").write_text(text)
    (folder / "not text.yaml").write_bytes(b"\xff\xfe")
    (folder / "out.yaml").symlink_to("/etc/hostname")
    (folder / "good.yaml").write_text(HEAD)
    return folder


def test_every_file_is_checked_to_its_end(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", str(corpus), "--json"]) == 3
    files = {Path(file["file"]).stem: file for file in json.loads(capsys.readouterr().out)["files"]}
    assert set(files) == {path.stem for path in corpus.iterdir()}
    assert [name for name, file in files.items() if not file["findings"]] == ["good"]
    assert {finding["rule"] for finding in files["out"]["findings"]} == {"file-limits"}
    assert "needs more than 1 s" in files["slow"]["findings"][0]["message"]
    for file in files.values():
        assert all(finding["line"] >= 1 and finding["message"] for finding in file["findings"])


def test_a_file_can_not_allow_itself_to_stay_unchecked(tmp_path: Path) -> None:
    text = "workflow: &w {a: *w} # physai-lint: allow file-limits\n"
    (tmp_path / "w.yaml").write_text(text)
    assert [finding.rule for finding in linted(tmp_path / "w.yaml", tmp_path).findings] == ["file-limits"]


def test_many_findings_are_cut_off(tmp_path: Path) -> None:
    tasks = "".join(f"  - {{name: t{n}, image: x, command: [x], gpus: 1}}\n" for n in range(250))
    (tmp_path / "many.yaml").write_text(f"workflow:\n  name: w\n  tasks:\n{tasks}")
    findings = linted(tmp_path / "many.yaml", tmp_path).findings
    assert len(findings) == 201
    assert "more findings are left out" in "".join(finding.problem for finding in findings)


def test_a_long_value_is_quoted_in_part(tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(f"workflow:\n  name: w\n  {'k' * 100_000}: 1\n  ? {'j' * 100_000}\n  : 1\n")
    assert all(len(finding.problem) < 1100 for finding in linted(tmp_path / "long.yaml", tmp_path).findings)


LEADS_OUT = [
    "/etc/hostname",
    "../secret.txt",
    "sub/../../secret.txt",
    "/proc/self/environ",
    "link.txt",
    "up/secret.txt",
]


def test_localpath_reads_nothing_outside_the_workflows_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "hidden-value")
    folder = tmp_path / "workflows"
    (folder / "sub").mkdir(parents=True)
    (folder / ".git").mkdir()
    for place in (tmp_path / "secret.txt", folder / ".git" / "config"):
        place.write_text("hidden-value")
    (folder / "link.txt").symlink_to("../secret.txt")
    (folder / "up").symlink_to("..")
    os.mkfifo(folder / "pipe")
    locals_ = [*LEADS_OUT, ".git/config", "pipe", "/dev/zero", "."]
    files = [folder / f"{number}.yaml" for number in range(len(locals_))]
    for file, local in zip(files, locals_, strict=True):
        file.write_text(f"{HEAD}    files: [{{path: /srv/x, localpath: {local}}}]\n")
    assert run(["lint", *map(str, files), "--objects", "--json"]) == 3
    checked = json.loads(capsys.readouterr().out)["files"]
    wrong: list[str] = []
    for local, file in zip(locals_, checked, strict=True):
        objects = [item for group in file["groups"] for item in group["objects"]]
        contents = [base64.b64decode(data) for item in objects for data in item.get("data", {}).values()]
        read = [text for text in contents if b"hidden-value" in text or text == Path("/etc/hostname").read_bytes()]
        errors = [each for each in file["findings"] if (each["severity"], each["rule"]) == ("error", "file-content")]
        kinds = {item["kind"] for item in objects}
        if read or not errors or b"" not in contents or kinds != {"Secret", "PodGroup", "Pod"}:
            wrong.append(local)
    assert wrong == []


def test_localpath_reads_a_file_below_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text("print(1)")
    (tmp_path / "near.py").symlink_to("sub/a.py")
    files = "{path: /srv/a, localpath: sub/a.py}, {path: /srv/b, localpath: near.py}"
    (tmp_path / "w.yaml").write_text(f"{HEAD}    files: [{files}]\n")
    assert run(["lint", str(tmp_path / "w.yaml"), "--objects"]) == 0
    assert capsys.readouterr().out.count(base64.b64encode(b"print(1)").decode()) == 2


@pytest.mark.parametrize(
    "values",
    [
        "services: &s {configs: {pools: {default: *s}}}\n",
        "services: {configs: {podTemplates: &a [" + "[" * 5000,
        "services: {configs: {workflow: {max_num_tasks: 1" + ":1" * 100_000 + "}}}\n",
        pytest.param(  # in `make test`: files that nest deeply, here and above
            "services: {configs: {pools: {default: {common_pod_template: ["
            + "t," * 20_000
            + "]}}, podTemplates: {t: {a: ["
            + "1," * 20_000
            + "]}}}}\n",
            marks=pytest.mark.deep,
        ),
        "\ud7ff: [",
    ],
    ids=["alias of itself", "deep", "long number", "many items", "no UTF-8"],
)
def test_values_are_read_within_limits(tmp_path: Path, values: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "values.yaml").write_text(values)
    (tmp_path / "w.yaml").write_text(HEAD)
    assert run(["lint", str(tmp_path / "w.yaml"), "--values", str(tmp_path / "values.yaml")]) == 2
    assert "values.yaml" in capsys.readouterr().err
    assert run(["lint", str(tmp_path / "values.yaml")]) == 3


def test_values_are_a_regular_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "w.yaml").write_text(HEAD)
    for values in ("/dev/zero", str(tmp_path / "pipe")):
        assert run(["lint", str(tmp_path / "w.yaml"), "--values", values]) == 2
        assert "not a regular file" in capsys.readouterr().err
        assert run(["lint", values]) == 3


def test_a_stack_file_is_read_within_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overlay = tmp_path / "overlay.yaml"
    for text in ("pools: &p {a: *p}\n", "pools: " + "[" * 30_000, f"tags: {{a: 1{':1' * 400_000}}}\n"):
        overlay.write_text(text)
        assert run(["explain", "dev-westus2", "pools", "-f", str(overlay)]) == 2
        assert "overlay.yaml" in capsys.readouterr().err
    assert run(["explain", "dev-westus2", "pools", "-f", "/dev/zero"]) == 2
    assert "not a regular file" in capsys.readouterr().err


@pytest.mark.deep  # in `make test`: the number below, and a slow template above
def test_values_can_not_lift_the_limits_of_a_template(tmp_path: Path) -> None:
    limits = "{jinja_sandbox_max_time: .inf, jinja_sandbox_memory_limit: -1}"
    text = (EXAMPLES / "config-name" / "pass.yaml").read_text()
    workflow = "workflow: {max_num_tasks: 50}"
    assert workflow in text
    (tmp_path / "values.yaml").write_text(text.replace(workflow, f"workflow: {{user_workflow_limits: {limits}}}"))
    loop = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    (tmp_path / "w.yaml").write_text(f"{HEAD}    args: ['{loop}{{{{ 1 }}}}']\n")
    assert run(["lint", str(tmp_path / "w.yaml"), "--values", str(tmp_path / "values.yaml")]) == 3


@pytest.mark.parametrize("seconds", [float("inf"), -1, 99999, float("nan")])
def test_no_number_of_values_lifts_the_limit_of_time(seconds: float) -> None:
    given = {"workflow": {"user_workflow_limits": {"jinja_sandbox_max_time": seconds}}}
    assert limit_of(Configuration(given, [])).seconds == MOST_SECONDS


@pytest.mark.parametrize("options", [["--objects"], ["--render"], ["--render", "--json"], ["--objects", "--json"]])
def test_objects_with_keys_of_any_type_are_printed(
    tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    odd = "odd: {1: a, b: 2, 2001-01-01: !!binary aGk=, 2.5: !!set {x}, null: .nan, true: 2001-01-01}"
    text = (
        (EXAMPLES / "config-name" / "pass.yaml")
        .read_text()
        .replace("        spec:\n", f"        {odd}\n        spec:\n")
    )
    (tmp_path / "values.yaml").write_text(text)
    (tmp_path / "w.yaml").write_text(HEAD.replace("platform: cpu", "platform: h100, gpu: 1"))
    code = run(["lint", str(tmp_path / "w.yaml"), "--values", str(tmp_path / "values.yaml"), *options])
    printed = capsys.readouterr().out
    assert code == 3
    assert "2001-01-01" in printed
    assert yaml.safe_load_all(printed) is not None
    if "--json" in options:
        assert json.loads(printed)["files"][0]["groups"]
