"""Stages as data, their commands for a stack, and the judgement on what these answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from docs.generator.commands import commands as physai_commands
from tests.support.cases import in_one_test
from tests.support.documentation import ROOT
from workbench.first_contact.judging import Answer, Result, judge
from workbench.first_contact.stages import Stage, Subject, commands, left_out, stages

AZURE = Subject("dev-westus2", False, "/f", "/f/kubeconfig", ("h100", "rtxpro"), ("a10gpu",), ("h100gpu",))
SIMULATED = replace(AZURE, simulated=True)
NAMES = [each.name for each in stages()]


def stage(name: str) -> Stage:
    return stages()[NAMES.index(name)]


def test_the_order_is_from_the_login_to_the_record() -> None:
    assert [
        *("login", "providers", "quota", "verdict", "preview", "cluster"),
        *("access", "nodes", "gates", "accept", "workflow", "record"),
    ] == NAMES
    changing = [each.name for each in stages() if each.changes]
    assert changing == ["cluster", "nodes", "accept", "workflow"]


@in_one_test("each", stages(), ids=NAMES)
def test_a_stage_runs_commands_that_exist(each: Stage) -> None:
    known = {
        words[1]: {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
        for words, command in physai_commands()
    }
    for subject in (AZURE, SIMULATED):
        if left_out(each, subject):
            continue
        for words in commands(each, subject):
            assert all(word and "{" not in word for word in words)
            assert all((ROOT / word).is_file() for word in words if word.startswith("workbench/"))
            if words[0] == "physai":
                assert {word for word in words if word.startswith("--")} <= known[words[1]]
            else:
                assert words[0] in {"pulumi", "osmo"}


def test_pools_begin_without_nodes_where_the_settings_let_them() -> None:
    (words,) = commands(stage("cluster"), AZURE)
    path = "pools.h100gpu.scale.initial=0"
    assert words == (
        *("pulumi", "up", "--yes", "--stack", "dev-westus2", "--config-path", "--config", f"physical-ai:{path}"),
    )
    (words,) = commands(stage("cluster"), SIMULATED)
    assert words == ("physai", "up", "dev-westus2", "--set", path)
    (words,) = commands(stage("cluster"), replace(AZURE, from_zero=()))
    assert words == ("pulumi", "up", "--yes", "--stack", "dev-westus2")


def test_quota_is_asked_for_one_node_of_each_gpu_pool() -> None:
    (words,) = commands(stage("quota"), AZURE)
    one = ("--set", "pools.a10gpu.scale.initial=1")
    assert words == ("physai", "check", "dev-westus2", "--no-verdict", *one, "--json")
    assert "--set" not in commands(stage("quota"), replace(AZURE, empty=()))[0]


def test_a_check_that_is_run_again_asks_azure_anew() -> None:
    for each in stages():
        if each.command[:2] == ("physai", "check"):
            (words,) = commands(each, AZURE, again=True)
            assert words.count("--fresh") == 1
    assert "--fresh" in commands(stage("login"), AZURE)[0]
    assert "--fresh" not in commands(stage("record"), AZURE, again=True)[0]


def test_a_node_is_brought_for_each_platform() -> None:
    assert [words[-1] for words in commands(stage("nodes"), AZURE)] == ["platform=h100", "platform=rtxpro"]


def test_what_only_azure_has_is_left_out_of_a_rehearsal() -> None:
    assert [each.name for each in stages() if left_out(each, SIMULATED)] == [
        *("login", "providers", "quota", "verdict", "access"),
    ]
    assert [each.name for each in stages() if left_out(each, AZURE)] == []
    without = replace(AZURE, platforms=())
    assert [each.name for each in stages() if left_out(each, without)] == ["nodes", "workflow"]


def findings(*rows: tuple[str, str, str], asked: bool = True, fix: str | None = None) -> Answer:
    listed = [
        {"topic": topic, "status": status, "subject": subject, "message": "m", "fix": fix}
        for topic, status, subject in rows
    ]
    return Answer(0, json.dumps({"azureAsked": asked, "whyNot": "no login", "findings": listed}))


@in_one_test(
    ("name", "answer", "result"),
    [
        ("login", findings(("role", "ok", "you"), ("quota", "error", "cores")), Result("passed")),
        (
            "login",
            findings(("role", "error", "you"), fix="Owner."),
            Result("failed", ("role you: m Owner.",)),
        ),
        ("login", findings(("role", "unknown", "you")), Result("passed", ("not known: you: m",))),
        ("login", findings(("quota", "ok", "cores")), Result("failed", ("the answer has no finding about it",))),
        ("login", findings(asked=False), Result("failed", ("Azure was not asked: no login",))),
        ("login", Answer(2, "no JSON"), Result("failed", ("the command ended with exit code 2 and no document",))),
        ("verdict", findings(("verdict", "ok", "all")), Result("passed")),
        ("verdict", findings(("policy", "error", "a")), Result("failed", ("policy a: m",))),
        (
            "verdict",
            findings(("role", "ok", "you")),
            Result("left-out", ("this physai check has no findings about the topic verdict",)),
        ),
        ("preview", Answer(0, ""), Result("passed")),
        ("preview", Answer(9, ""), Result("failed", ("the command ended with exit code 9; its output says why",))),
    ],
)
def test_an_answer_is_judged(name: str, answer: Answer, result: Result) -> None:
    assert judge(stage(name), AZURE, [answer]) == result


def pools(code: int = 0, **given: Any) -> Answer:
    return Answer(code, json.dumps({"pools": given}))


GATE = {"node": "n", "gate": "driver", "message": "not ready"}


@pytest.mark.parametrize(
    ("answer", "status", "remark"),
    [
        (pools(a={"nodes": 1, "closed": []}), "passed", None),
        (pools(a={"nodes": 0, "closed": []}), "failed", "a has no node"),
        (pools(1, a={"nodes": 1, "closed": [GATE]}), "failed", "a: gate driver of n is closed: not ready"),
        (pools(1, a={"nodes": 1, "closed": []}), "failed", "exit code 1"),
        (Answer(1, ""), "failed", "no list of pools"),
    ],
)
def test_gates_that_nobody_has_passed_prove_nothing(answer: Answer, status: str, remark: str | None) -> None:
    found = judge(stage("gates"), AZURE, [answer])
    assert found.status == status
    assert remark is None or remark in found.remarks[0]
    without = judge(stage("gates"), replace(AZURE, platforms=()), [pools(a={"nodes": 0, "closed": []})])
    assert (without.status, len(without.remarks)) == ("passed", 1)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (Answer(0, '{"nodes": [{}, {}]}'), "passed"),
        (Answer(0, '{"nodes": []}'), "failed"),
        (Answer(3, '{"nodes": [{}]}'), "failed"),
        (Answer(1, "cut"), "failed"),
    ],
)
def test_a_node_has_to_be_accepted(answer: Answer, status: str) -> None:
    assert judge(stage("accept"), AZURE, [answer]).status == status


def test_the_first_command_that_fails_decides() -> None:
    found = judge(stage("nodes"), AZURE, [Answer(0, ""), Answer(4, ""), Answer(0, "")])
    assert found.status == "failed"
    assert judge(stage("nodes"), AZURE, []).status == "failed"
