"""`physai first`: stops at each stage and goes on, with the real `physai check` over answers of Azure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from physical_ai.repository import HOME_VARIABLE
from physical_ai.settings import load
from tests.support.azure_subscription import SUBSCRIPTION, Answers
from tests.unit.cli.test_cli_commands import call
from workbench.cli import azure_login, first_contact
from workbench.cli.commands import check as check_command
from workbench.cli.commands import first as first_command
from workbench.cli.first_contact import Figures, Folder
from workbench.first_contact.judging import Answer
from workbench.first_contact.stages import stages
from workbench.preflight.judging import needed_registrations

STACK = "quickstart-westus2"
NAMES = [each.name for each in stages()]
FIGURES = Figures((15, 50), (8, 25), 0.7, 8.8, complete=True)
GOOD = {
    "check": {
        "azureAsked": True,
        "findings": [
            {"topic": topic, "status": "ok", "subject": "s", "message": "m", "fix": None}
            for topic in ("role", "provider", "quota", "verdict")
        ],
    },
    "gates": {"pools": {"h100gpu": {"nodes": 1, "closed": []}}},
    "accept": {"nodes": [{}]},
}
"""Documents of commands that found nothing wrong, by their names."""


class Commands:
    """In place of processes: answers each command, and keeps what was run."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, ...]] = []
        self.fails: Callable[[Sequence[str]], bool] = lambda words: False
        self.check: Callable[[Sequence[str]], Answer] | None = None

    def __call__(self, words: Sequence[str], file: Path) -> Answer:
        self.ran.append(tuple(words))
        file.write_text("output")
        if self.fails(words):
            return Answer(1, "")
        if words[1] == "check" and self.check is not None:
            return self.check(words)
        return Answer(0, json.dumps(GOOD.get(words[1], {})))


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    made = Commands()
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.setattr(first_contact, "run", made)
    monkeypatch.setattr(first_contact, "figures", lambda requested: FIGURES)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]  # whatever is asked
    return made


def first(*arguments: str, stack: str = STACK, expect: int = 0) -> str:
    code, out, err = call("first", stack, "--yes", *arguments)
    assert code == expect, out + err
    return out + err


def states(stack: str = STACK) -> dict[str, str]:
    document = json.loads(Folder.of(stack, simulated=False).state.read_text())
    return {name: each["state"] for name, each in document["entries"].items()}


def test_it_runs_from_the_login_to_the_record(commands: Commands) -> None:
    assert "every stage is done" in first()
    assert states() == dict.fromkeys(NAMES, "passed")
    folder = Folder.of(STACK, simulated=False).path
    assert "| Azure's verdict | passed |" in (folder / "evidence.md").read_text()
    assert len(list(folder.glob("*-1.txt"))) == len(NAMES)  # and the second platform of the stage nodes:
    assert len(list(folder.glob("*-2.txt"))) == 1
    assert (folder / "kubeconfig").read_text() == "{}"
    before = len(commands.ran)
    assert "every stage is done" in first()
    assert len(commands.ran) == before


FEW = ("quota", "nodes")
"""In `make test`: a stage that only looks, and the one with two commands."""
EACH = [pytest.param(name, marks=() if name in FEW else pytest.mark.deep) for name in NAMES]


@pytest.mark.parametrize("name", EACH)
def test_it_stops_after_each_stage_and_goes_on_with_the_next(commands: Commands, name: str) -> None:
    at = NAMES.index(name)
    said = first("--until", name)
    assert list(states()) == NAMES[: at + 1]
    assert at + 1 == len(NAMES) or f"stage {NAMES[at + 1]} is not begun" in said
    first()
    assert list(states()) == NAMES
    first_run = len(commands.ran)
    commands.ran.clear()
    first("--from", NAMES[0])
    assert len(commands.ran) == first_run  # nothing had run twice


@pytest.mark.parametrize("name", EACH)
def test_a_stage_that_fails_is_run_again_and_none_before_it(commands: Commands, name: str) -> None:
    first(*(("--until", NAMES[NAMES.index(name) - 1]) if name != NAMES[0] else ("--until", name)))
    if name == NAMES[0]:
        first("--from", name, "--until", name)
    commands.fails = lambda words: True
    said = first("--from", name, expect=3)
    assert f"to go on with it: physai first {STACK}" in said
    assert states()[name] == "failed"
    commands.fails = lambda words: False
    commands.ran.clear()
    first("--until", name)
    assert states()[name] == "passed"
    assert len(commands.ran) == (2 if name == "nodes" else 1)


def test_a_stage_that_was_cut_off_is_run_again(commands: Commands) -> None:
    def cut(words: Sequence[str]) -> bool:
        raise KeyboardInterrupt

    first("--until", "preview")
    commands.fails = cut
    assert "interrupted; to go on" in first(expect=130)
    assert states()["cluster"] == "running"
    commands.fails = lambda words: False
    assert "every stage is done" in first()


def test_a_dry_run_says_everything_and_does_nothing(commands: Commands) -> None:
    said = first("--dry-run")
    assert commands.ran == []
    assert not Folder.of(STACK, simulated=False).path.exists()
    assert "$ pulumi up --yes --stack quickstart-westus2" in said
    assert "15 to 50 minutes; afterwards about 0.70 USD an hour for nodes" in said
    assert "pulumi destroy" in said
    document = json.loads(call("first", STACK, "--json")[1])
    assert [each["stage"] for each in document["stages"]] == NAMES
    assert document["stages"][5]["minutes"] == [15, 50]


def test_a_rehearsal_leaves_out_what_only_azure_has(commands: Commands) -> None:
    first("--simulated")
    assert {words[0] for words in commands.ran} == {"physai"}
    assert [words[1] for words in commands.ran] == ["preview", "up", "run", "run", "gates", "accept", "run", "record"]
    assert not Folder.of(STACK, simulated=False).path.exists()


def test_other_settings_begin_anew(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    first("--until", "preview")
    monkeypatch.setattr(first_contact, "digest", lambda settings: "other")  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]  # of any
    assert "the settings have changed" in first("--until", "login")
    assert list(states()) == ["login"]


def test_nobody_is_asked_without_a_terminal(commands: Commands) -> None:
    code, _, err = call("first", STACK)
    assert code == 2
    assert "--yes" in err
    assert list(states()) == NAMES[:5]


def test_a_no_stops_and_is_no_success(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_command, "_confirmed", lambda question: False)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]  # a text
    code, _, err = call("first", STACK)
    assert code == 1
    assert "answered with no" in err
    assert list(states()) == NAMES[:5]


def test_nobody_else_reads_its_files_and_no_terminal_obeys_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Folder(tmp_path / "first")
    file = folder.evidence(1, "login")
    with folder.held():
        folder.keep("kubeconfig", "x")
        assert first_contact.run(["printf", "\\033[2J::error::x\\n"], file).code == 0
    assert capsys.readouterr().out == "\\x1b[2J::error::x\n"
    assert [each.stat().st_mode & 0o777 for each in (folder.path, folder.path / "kubeconfig", file)] == [
        0o700, 0o600, 0o600]  # fmt: skip


def test_evidence_has_errors_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "evidence.txt"
    answer = first_contact.run(["sh", "-c", "echo done; printf 'refused\\nwhy? ' >&2; exit 3"], file)
    assert (answer.code, answer.output) == (3, "done\n")
    assert capsys.readouterr().err == "refused\nwhy? "
    first, _, rest = file.read_text().partition("\n")
    assert first.startswith("$ sh -c ")
    assert "done\n" in rest  # anywhere between the errors: two threads write
    assert rest.replace("done\n", "") == "refused\nwhy? exit code 3\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((STACK, "--from", "clutser"), "there is no stage 'clutser'"),
        ((STACK, "--until", "x"), "Stages: login,"),
        (("onprem-lab",), "a cluster that exists"),
        (("seed-westus2",), "records the past"),
    ],
)
def test_what_cannot_be_is_refused(commands: Commands, arguments: tuple[str, ...], problem: str) -> None:
    code, _, err = call("first", *arguments)
    assert code == 2
    assert problem in " ".join(err.replace("│", " ").split())
    assert commands.ran == []


def test_a_state_that_was_edited_is_named_and_kept(commands: Commands) -> None:
    first("--until", "login")
    file = Folder.of(STACK, simulated=False).state
    file.write_text("{}")
    said = first(expect=2)
    assert f"Remove {file}" in " ".join(said.split())
    assert file.read_text() == "{}"


def test_two_do_not_run_at_once(commands: Commands) -> None:
    with Folder.of(STACK, simulated=False).held():
        assert "another physai first" in first(expect=1)


# What Azure answers, through the real `physai check`.


def checked(monkeypatch: pytest.MonkeyPatch, answers: Answers) -> Callable[[Sequence[str]], Answer]:
    def run(words: Sequence[str]) -> Answer:
        code, out, _ = call(*words[1:])
        return Answer(code, out)

    monkeypatch.setenv(azure_login.SUBSCRIPTION_VARIABLE, SUBSCRIPTION)
    monkeypatch.setattr(azure_login, "_login", lambda: answers)
    monkeypatch.setattr(azure_login, "_exchange", lambda: None)
    monkeypatch.setattr(check_command.shutil, "which", lambda name: f"/usr/bin/{name}")  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]  # a name
    return run


OWNER = "permissions-owner.json"


def unused(answers: Answers) -> Answers:
    """A subscription in which nobody has ever deployed anything."""

    def unregistered(document: dict[str, Any]) -> None:
        for each in document["value"]:
            each["registrationState"] = "NotRegistered"

    return answers.change("providers", unregistered)


@pytest.mark.deep  # in `make test`: over HTTP, in test_first_over_http.py
def test_a_subscription_that_was_never_used_stops_at_its_providers(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands.check = checked(monkeypatch, unused(Answers(permissions=OWNER)))
    said = first(stack="dev-westus2", expect=3)
    assert "az provider register --namespace Microsoft.ContainerService" in said
    assert states("dev-westus2") == {"login": "passed", "providers": "failed"}
    assert {words[1] for words in commands.ran} == {"check"}


def test_a_reader_stops_at_the_rights(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    commands.check = checked(monkeypatch, Answers(permissions="permissions-reader.json"))
    said = first(stack="dev-westus2", expect=3)
    assert "Owner, or Contributor with User Access Administrator" in said
    assert states("dev-westus2") == {"login": "failed"}


@pytest.mark.deep  # in `make test`: over HTTP, in test_first_over_http.py
def test_a_subscription_without_gpu_quota_stops_there(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(document: dict[str, Any]) -> None:
        document["value"] = [each for each in document["value"] if "H100" not in each["name"]["value"]]

    def registered(document: dict[str, Any]) -> None:
        needed = needed_registrations(load("prod-westus2").settings)
        document["value"] = [{"namespace": each, "registrationState": "Registered"} for each in needed]

    answers = Answers(permissions=OWNER).change("usages", none).change("providers", registered)
    commands.check = checked(monkeypatch, answers)
    said = first(stack="prod-westus2", expect=3)
    assert "quota StandardNCadsH100v5Family" in said
    assert list(states("prod-westus2").values())[-1] == "failed"
    assert list(states("prod-westus2"))[-1] == "quota"


def test_a_landing_zone_whose_policy_denies_stops_at_the_verdict(commands: Commands) -> None:
    denied = {"topic": "policy", "status": "error", "subject": "PublicIPAddress", "message": "denied", "fix": None}
    document = {**GOOD["check"], "findings": [*GOOD["check"]["findings"], denied]}
    commands.check = lambda words: Answer(3, json.dumps(document))
    said = first(expect=3)
    assert "policy PublicIPAddress: denied" in said
    assert states() == {"login": "passed", "providers": "passed", "quota": "passed", "verdict": "failed"}


def test_a_check_without_a_verdict_leaves_it_out(commands: Commands) -> None:
    document = {**GOOD["check"], "findings": GOOD["check"]["findings"][:-1]}
    commands.check = lambda words: Answer(0, json.dumps(document))
    first("--until", "verdict")
    assert states()["verdict"] == "left-out"


def test_a_stack_without_osmo_has_no_workflow(commands: Commands) -> None:
    first(stack="dev-westus2")
    left = [name for name, state in states("dev-westus2").items() if state == "left-out"]
    assert left == ["nodes", "workflow"]
