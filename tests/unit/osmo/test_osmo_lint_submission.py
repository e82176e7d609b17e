"""What the check takes from the submission and from beside the workflow: variables, local files, the release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from physical_ai.settings import Overlay, load
from tests.support.cases import in_one_test
from workbench.cli.main import run
from workbench.osmo.lint import Checked, Context, check_text, of_stack
from workbench.osmo.workflow.rendering import Variables
from workbench.osmo.workflow.undefined import undefined

DIGEST = "@sha256:" + "0" * 64


def workflow(more: str = "", image: str = f"registry.example/tools:1.2{DIGEST}", head: str = "") -> str:
    return (
        f"workflow:\n  name: example\n{head}  resources:\n    default: {{platform: cpu, cpu: 1}}\n  tasks:\n"
        f"  - name: one\n    image: {image}\n    command: [bash, /srv/run.sh]\n{more}"
    )


def found(text: str, context: Context | None = None, folder: Path | None = None) -> dict[str, str]:
    """The findings: what is wrong, and what to write instead."""
    checked: Checked = check_text(text, "w.yaml", context or of_stack(load("dev-westus2").settings), folder)
    return {f"{each.rule}: {each.problem}": each.fix or "" for each in checked.findings}


def test_every_undefined_name_is_named_with_the_option_that_sets_it() -> None:
    text = workflow(head="  labels: {{ zone }}\n").replace("name: example", "name: {{ exp }}-{{ exp }}-{{ seed|int }}")
    findings = found(text)
    assert list(findings) == [
        f"template-error: '{name}' is undefined: it is not in default-values, and not set"
        for name in ("exp", "seed", "zone")
    ]
    assert next(iter(findings.values())).startswith("--set exp=VALUE --set seed=VALUE --set zone=VALUE, or")


def test_names_that_need_not_be_defined_are_not_named() -> None:
    template = "{{ a }}{% if b is defined %}{{ b }}{% endif %}{{ c|default('x') }}{% for d in [1] %}{{ d }}{% endfor %}"
    assert undefined(template, {}) == {"a": 1}
    assert undefined("{{ a|tojson }}\n{{ e.f }}\n{% if g > 3 %}{% endif %}", {}) == {"a": 1, "e": 2, "g": 3}
    assert undefined("{{ a }}", {"a": 1}) == {}


ISAAC = f"nvcr.io/nvidia/isaac-sim:5.1.0{DIGEST}"


@in_one_test(
    ("more", "environment", "accepts"),
    [
        ("", ("ACCEPT_EULA=Y",), True),
        ("", ("ACCEPT_EULA=N",), False),
        ("    environment: {ACCEPT_EULA: Y}\n", ("ACCEPT_EULA=",), False),
        ('    files: [{path: /srv/run.sh, contents: "export ACCEPT_EULA=Y\\nrun"}]\n', (), True),
        ('    files: [{path: /srv/run.sh, contents: "ACCEPT_EULA=Y ./python.sh a"}]\n', (), True),
        ('    files: [{path: /srv/run.sh, contents: "ACCEPT_EULA=Y\\nexport ACCEPT_EULA"}]\n', (), True),
        ('    files: [{path: /srv/run.sh, contents: "ACCEPT_EULA=Y\\nrun"}]\n', (), False),
        ('    files: [{path: /srv/run.sh, contents: "# export ACCEPT_EULA=Y\\nrun"}]\n', (), False),
        ('    files: [{path: /srv/other.sh, contents: "export ACCEPT_EULA=Y"}]\n', (), False),
        ('    args: [-c, "export ACCEPT_EULA=yes && run"]\n', (), True),
    ],
)
def test_a_variable_of_the_submission_or_of_the_entry_counts(
    more: str, environment: tuple[str, ...], accepts: bool
) -> None:
    context = replace(of_stack(load("dev-westus2").settings), variables=Variables(environment=environment))
    rules = {each.partition(":")[0] for each in found(workflow(more, ISAAC), context)}
    assert ("isaac-eula" not in rules) == accepts


def test_capabilities_of_the_submission_count_and_those_of_a_script_come_too_late() -> None:
    stack = of_stack(load("dev-westus2").settings)
    name = "NVIDIA_DRIVER_CAPABILITIES"
    text = workflow().replace("{platform: cpu, cpu: 1}", "{platform: h100, gpu: 1}")
    given = replace(stack, variables=Variables(environment=(f"{name}=all",)))
    late = text + f'    files: [{{path: /srv/run.sh, contents: "export {name}=all"}}]\n'

    def complains(text: str, context: Context) -> bool:
        return any(each.startswith("gpu-capabilities") for each in found(text, context))

    assert (complains(text, stack), complains(text, given), complains(late, stack)) == (True, False, True)


def local(path: str) -> str:
    return workflow(f"    files: [{{path: /srv/run.sh, localpath: {path}}}]\n")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a workflow's folder, and files in and around it."""
    root = tmp_path / "repository"
    for name in ("flows/own.sh", "flows/.hidden", "lib/run.sh", ".env", ".git/config", "lib/.cache/key"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("echo one\n")
    (tmp_path / "secret").write_text("outside")
    (root / "lib" / "link").symlink_to(tmp_path / "secret")
    (root / "lib" / "near").symlink_to(root / "lib" / "run.sh")
    return root


@pytest.mark.parametrize("path", ["own.sh", ".hidden", "../lib/run.sh", "../lib/near", "../../repository/lib/run.sh"])
def test_files_of_the_repository_are_read(repository: Path, path: str) -> None:
    assert found(local(path), folder=repository / "flows") == {}
    assert found(local(str(repository / "flows" / path)), folder=repository / "flows") == {}


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("../../secret", "only files below"),
        ("../lib/link", "a link that leads out"),
        ("/etc/passwd", "only files below"),
        ("../.env", "hidden files above the workflow's folder are read with --root only"),
        ("../lib/.cache/key", "hidden files"),
        ("../.git/config", "hidden files"),
        ("../lib", "not a regular file"),
        ("../lib/none.sh", "does not exist"),
        ("..", "only files below"),
    ],
)
def test_no_other_file_is_read(repository: Path, path: str, problem: str) -> None:
    (message,) = found(local(path), folder=repository / "flows")
    assert message.startswith("file-content: ")
    assert problem in message


def test_without_a_repository_the_workflows_folder_is_the_bound(tmp_path: Path) -> None:
    (tmp_path / "flows").mkdir()
    (tmp_path / "run.sh").write_text("echo one\n")
    (message,) = found(local("../run.sh"), folder=tmp_path / "flows")
    assert "only files below" in message


def test_a_named_root_widens_the_bound_and_no_further(repository: Path, tmp_path: Path) -> None:
    context = replace(of_stack(load("dev-westus2").settings), root=repository)
    assert found(local("../.env"), context, repository / "flows") == {}
    assert "links" not in found(local("../lib/run.sh"), context, repository / "flows")
    assert found(local("../lib/link"), context, repository / "flows") != {}
    assert found(local("../.git/config"), context, repository / "flows") != {}
    assert found(local("../../secret"), replace(context, root=tmp_path), repository / "flows") == {}


def test_the_root_has_to_contain_the_files(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = repository / "flows" / "w.yaml"
    path.write_text(local("../lib/run.sh"))
    assert run(["lint", str(path), "--root", str(repository)]) == 0
    assert run(["lint", str(path), "--root", str(repository / "lib")]) == 2
    assert "is not below" in capsys.readouterr().err.replace("\n", " ")
    assert run(["lint", str(path), "--root", str(repository / "none")]) == 2


def test_a_key_of_the_next_release_is_named_as_one() -> None:
    (message,) = found(workflow(head="  labels: {team: vision}\n"))
    assert message == "schema: 'labels' is of OSMO 6.4, which is not the one checked for"


LABELS = {
    "{team: vision, example.com/experiment: a-1_b.c}": [],
    "{}": [],
    "[a]": ["no map"],
    "vision": ["no map"],
    "{run: 7}": ["is not text"],
    "{run: true}": ["is not text"],
    "{run: ''}": ["from 1 to 63"],
    "{run: 'a b'}": ["from 1 to 63"],
    f"{{run: {'a' * 64}}}": ["from 1 to 63"],
    "{-team: a}": ["not a label name"],
    "{Example.com/team: a}": ["not a label name"],
    "{a/b/c: a}": ["not a label name"],
    f"{{{', '.join(f'l{number}: a' for number in range(17))}}}": ["17 labels"],
}


@in_one_test("labels", LABELS)
def test_labels_that_the_next_release_refuses_are_named(labels: str) -> None:
    context = replace(of_stack(load("dev-westus2").settings), osmo_version="6.4")
    findings = found(workflow(head=f"  labels: {labels}\n"), context)
    assert len(findings) == len(LABELS[labels])
    assert all(any(words in each for each in findings) for words in LABELS[labels])
    assert all(findings.values())


def test_advice_for_a_privilege_is_accepted_and_names_what_still_refuses_it() -> None:
    text = workflow("    privileged: true\n    hostNetwork: true\n")
    gpu = text.replace("{platform: cpu, cpu: 1}", "{platform: h100, gpu: 1}")
    advice = [fix for problem, fix in found(gpu).items() if problem.startswith("privileged:")]
    assert len(advice) == 2
    for fix, key in zip(advice, ("privileged", "hostNetwork"), strict=True):
        setting = f"osmo.platforms.h100gpu.{key}"
        assert f"{setting}: true" in fix
        assert "namespace osmo-workflows enforces Pod Security baseline" in fix
        assert load("dev-westus2", [Overlay.assign([f"{setting}=true"])]).settings is not None
    on_cpu = [fix for problem, fix in found(text).items() if problem.startswith("privileged:")]
    assert on_cpu == ["Remove it: no setting allows it on a platform without GPUs."] * 2
