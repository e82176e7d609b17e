"""What a finding advises changes something: followed to the letter, the finding is gone and nothing worse has come."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest

from physical_ai.settings import load
from tests.support.cases import in_one_test
from tests.support.lint_advice import BY_HAND, EDITS, NotApplicable, applied
from workbench.osmo.lint import RULES, Checked, Context, check_text, of_stack
from workbench.osmo.lint.finding import WorkflowFinding

EXAMPLES = Path(__file__).parents[2] / "fixtures" / "osmo" / "lint"
TASK = """workflow:
  name: example
  timeout: {{exec_timeout: 2h}}
  resources:
    default: {{platform: {platform}, gpu: 1, cpu: 8, memory: 64Gi, storage: 100Gi{resource}}}
  tasks:
  - name: train
    image: registry.example/trainer:1.2@sha256:{digest}
    command: [python, train.py]
    environment: {{NVIDIA_DRIVER_CAPABILITIES: all{variables}}}
{task}"""


def workflow(platform: str = "h100", resource: str = "", variables: str = "", task: str = "") -> str:
    digest = "5f70bf18" * 8
    return TASK.format(platform=platform, resource=resource, variables=variables, task=task, digest=digest)


OTHERS = {
    "gpu-limit": [workflow("rtxpro").replace("gpu: 1", "gpu: 8"), workflow().replace("gpu: 1", "gpu: 17")],
    "node-limit": [
        workflow("rtxpro").replace("64Gi", "9000Gi"),
        workflow().replace("cpu: 8", "cpu: 4000"),
        workflow().replace("100Gi", "90000Gi"),
        workflow("cpu").replace("gpu: 1, ", "").replace("64Gi", "9Ti"),
    ],
    "platform-unknown": [workflow("rtxpr"), workflow("H100")],
    "resource-unknown": [workflow(task="    resource: defaul\n")],
    "gpu-on-cpu": [workflow("cpu")],
    "gpu-capabilities": [workflow().replace("NVIDIA_DRIVER_CAPABILITIES: all", "NVIDIA_DRIVER_CAPABILITIES: compute")],
    "amount-unit": [workflow().replace("64Gi", "64GB"), workflow().replace("100Gi", "100 Gi")],
    "shared-memory": [workflow().replace("64Gi", "1Gi"), workflow("rtxpro").replace("64Gi", "8Gi")],
    "privileged": [workflow(task="    privileged: true\n"), workflow(task="    hostNetwork: true\n")],
    "timeout-limit": [workflow().replace("2h", "400d")],
    "exec-timeout": [workflow().replace("  timeout: {exec_timeout: 2h}\n", "")],
    "gpu-visible-devices": [workflow(variables=", NVIDIA_VISIBLE_DEVICES: '0'")],
    "credential-plain": [workflow(variables=", WANDB_API_KEY: 0123456789abcdef0123456789abcdef01234567")],
    "schema": [
        workflow().replace("command:", "comand:"),
        workflow().replace("cpu: 8", "cpus: 8"),
        workflow(task="    env: {A: b}\n").replace("    environment: {NVIDIA_DRIVER_CAPABILITIES: all}\n", ""),
        workflow(task="    exitAction: {COMPLETE: '1'}\n"),
    ],
    "nccl-interface": [workflow(variables=", NCCL_SOCKET_IFNAME: ib0")],
    "nccl-debugging": [workflow(variables=", NCCL_DEBUG: TRACE")],
    "exit-actions": [workflow(task="    exitActions: {COMPLETE: 5-1}\n")],
}
"""Further files by rule, each of which breaks it in another way than its example."""
CASES = [(rule, (EXAMPLES / rule / "fail.yaml").read_text(), "example") for rule in EDITS]
CASES += [(rule, text, f"{index}") for rule, texts in OTHERS.items() for index, text in enumerate(texts, 1)]


@lru_cache(maxsize=1)
def stack() -> Context:
    return of_stack(load("dev-westus2", []).settings)


def checked(text: str, rule: str) -> Checked:
    return check_text(text, "w.yaml", stack(), EXAMPLES / rule)


def counted(result: Checked, least: int) -> Counter[tuple[str, str]]:
    """The findings that are at least as grave, without their lines, which a change moves."""
    return Counter((each.rule, each.problem) for each in result.findings if each.severity.rank >= least)


def test_each_rule_has_an_advice_that_can_be_followed_or_says_why_a_person_has_to() -> None:
    assert EDITS.keys() | BY_HAND.keys() == RULES.keys()
    assert not EDITS.keys() & BY_HAND.keys()


@in_one_test(("rule", "text"), [case[:2] for case in CASES], ids=[f"{each[0]}-{each[2]}" for each in CASES])
def test_an_advice_that_is_followed_ends_its_finding_and_adds_none_worse(rule: str, text: str) -> None:
    """Followed one after the other, as a reader does, until none of the rule is left."""
    result = checked(text, rule)
    assert rule in {each.rule for each in result.findings}, [each.rule for each in result.findings]
    for _ in range(6):
        # A misspelt key is missing, too: the reader takes the finding that names both.
        of_rule = sorted((each for each in result.findings if each.rule == rule), key=names_no_other)
        finding = next(iter(of_rule), None)
        if finding is None:
            return
        after = checked(followed(text, finding), rule)
        assert counted(after, 0)[rule, finding.problem] < counted(result, 0)[rule, finding.problem], finding.fix
        assert not counted(after, finding.severity.rank + 1) - counted(result, 0), finding.fix
        text, result = followed(text, finding), after
    raise AssertionError(f"{rule} is still found: {result.findings}")


def names_no_other(finding: WorkflowFinding) -> bool:
    return "Did you mean" not in (finding.fix or "")


def followed(text: str, finding: WorkflowFinding) -> str:
    try:
        return applied(text, finding, EDITS[finding.rule])
    except NotApplicable as fault:
        raise AssertionError(f"{finding.rule}: nothing to apply in {fault}") from fault


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parents[3].glob("workbench/osmo/samples/*.yaml")), ids=lambda p: p.stem
)
def test_the_samples_give_no_advice(path: Path) -> None:
    assert [each.rule for each in check_text(path.read_text(), path.name, stack(), path.parent).findings] == []
