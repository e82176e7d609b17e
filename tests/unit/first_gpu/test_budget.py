"""The budget for the time to the first GPU: findings, what a change makes longer and why, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import Any

import pytest

from physical_ai.findings import Severity
from physical_ai.settings import load
from physical_ai.settings.models.first_gpu import TimeToFirstGpu
from tests.support.stacks import azure_stacks
from tests.unit.conftest import Simulate
from workbench.cli.changes import Run, Step
from workbench.cli.preview.first_gpu import judged
from workbench.cli.preview.first_gpu_markdown import first_gpu, over_budget
from workbench.cli.preview.model import Deployed, Preview
from workbench.first_gpu.judging import SETTINGS, changes, findings
from workbench.first_gpu.pools import GpuPool, declared_pools
from workbench.first_gpu.report import DEPLOYMENT, KINDS, NODE, Report, report

H100 = GpuPool("h100gpu", "Standard_NC40ads_H100_v5", "aks", 1, autoscaled=True, resource="urn", most=2)
OPERATOR = replace(H100, driver="operator")


def of(*pools: GpuPool) -> Report:
    return report((), pools)


def budget(**minutes: Any) -> TimeToFirstGpu:
    return TimeToFirstGpu.model_validate(minutes)


@pytest.mark.parametrize(
    ("minutes", "severity"),
    [(30, Severity.OK), (29, Severity.WARNING), (6, Severity.WARNING), (5, Severity.ERROR)],
)
def test_the_slow_case_warns_and_the_fast_case_is_an_error(minutes: int, severity: Severity) -> None:
    (found,) = findings(of(OPERATOR), budget(nodeMinutes=minutes))
    assert (found.severity, found.where) == (severity, SETTINGS[NODE])
    assert "6 to 30 minutes" in found.problem
    assert f"budget {minutes}" in found.problem
    assert (found.fix is None) is (severity is Severity.OK)


def test_without_a_budget_nothing_is_judged() -> None:
    assert findings(of(OPERATOR), TimeToFirstGpu()) == []
    assert findings(of(), budget(nodeMinutes=1, deploymentMinutes=1)) == []


def test_a_budget_is_a_whole_number_of_minutes_above_zero() -> None:
    for wrong in (0, -5, 1.5, 1000):
        with pytest.raises(ValueError, match="nodeMinutes"):
            budget(nodeMinutes=wrong)


def budget_of(stack: str) -> TimeToFirstGpu:
    return load(stack).settings.time_to_first_gpu


def times(simulate: Simulate, stack: str, overrides: Mapping[str, Any] | None = None) -> Report:
    resources = simulate(stack, overrides).stack.resources
    return report(resources, declared_pools(resources))


def test_each_stack_is_within_the_budget_of_its_environment(simulate: Simulate, azure_stack_name: str) -> None:
    found = findings(times(simulate, azure_stack_name), budget_of(azure_stack_name))
    record = load(azure_stack_name).settings.record
    assert [each.severity for each in found] == ([] if record else [Severity.OK, Severity.OK])


@pytest.mark.deep  # in `make test`: each stack within its budget
def test_a_budget_is_the_time_of_the_environments_slowest_stack_and_a_twentieth_more(simulate: Simulate) -> None:
    slowest: dict[str, dict[str, float]] = {}
    for stack in azure_stacks():
        if not load(stack).settings.record:
            of_environment = slowest.setdefault(stack.partition("-")[0], {})
            for kind in KINDS:
                minutes = times(simulate, stack).minutes(kind)
                assert minutes is not None
                of_environment[kind] = max(of_environment.get(kind, 0), minutes[1])
    for environment, minutes in slowest.items():
        found = {budget_of(each).model_dump_json() for each in azure_stacks() if each.startswith(f"{environment}-")}
        expected = {kind: ceil(1.05 * most) for kind, most in minutes.items()}
        assert found == {budget(deploymentMinutes=expected[DEPLOYMENT], nodeMinutes=expected[NODE]).model_dump_json()}


@pytest.mark.parametrize(
    ("overrides", "kind", "reason"),
    [
        ({"health": {"admit": "accepted"}}, NODE, "the node is accepted is new (15)"),
        ({"health": {"admit": "accepted"}}, DEPLOYMENT, "the node is accepted is new (15)"),
        (
            {"pools": {"h100gpu": {"sharing": {"mig": {"strategy": "single", "profiles": {"1g.12gb": 7}}}}}},
            NODE,
            "the GPU is divided by MIG is new (3)",
        ),
    ],
)
def test_a_change_of_a_shipped_stack_that_makes_it_longer_is_a_finding(
    simulate: Simulate, overrides: dict[str, Any], kind: str, reason: str
) -> None:
    old, new = times(simulate, "dev-westus2"), times(simulate, "dev-westus2", overrides)
    found = {each.where: each for each in findings(new, budget_of("dev-westus2"), changes(old, new))}[SETTINGS[kind]]
    assert found.severity is Severity.WARNING
    assert "since this change, because" in found.problem
    assert reason in found.problem


def test_a_change_says_by_how_much_and_which_steps() -> None:
    old, new = of(H100), of(replace(OPERATOR, accepted_first=True))
    changed = {each.kind: each for each in changes(old, new)}[NODE]
    assert changed.minutes == 25
    assert "longer by 25 minutes since this change, because" in str(changed)
    assert "the driver is built and loaded (12) instead of AKS installs the driver (2)" in str(changed)
    assert "the node is accepted is new (15)" in str(changed)
    back = {each.kind: each for each in changes(new, old)}[NODE]
    assert "shorter by 25 minutes" in str(back)
    assert "the node is accepted is gone (15)" in str(back)
    assert changes(old, old) == []
    (found,) = findings(new, budget(nodeMinutes=40), [changed])
    assert "longer by 25 minutes since this change" in found.problem


def test_the_slowest_pool_counts_whichever_it_is() -> None:
    both = of(H100, replace(OPERATOR, name="a10gpu"))
    (found,) = findings(both, budget(nodeMinutes=20))
    assert "slowest pool a10gpu" in found.problem
    assert findings(of(H100), budget(nodeMinutes=20))[0].severity is Severity.OK


def test_another_slowest_pool_is_named() -> None:
    (changed,) = [each for each in changes(of(OPERATOR, H100), of(replace(H100, name="a10gpu"))) if each.kind == NODE]
    assert "because the slowest pool is a10gpu, and was h100gpu; " in str(changed)


def test_a_pool_that_never_has_a_node_is_left_out() -> None:
    assert of(replace(OPERATOR, most=0)).pools == ()


def preview_of(simulate: Simulate, *, budgeted: bool) -> dict[str, Any]:
    """The preview of `dev-westus2` in which the H100 pool changes from AKS' driver to the operator's."""
    declared = simulate("dev-westus2").stack
    (pool,) = [each for each in declared.resources if each.name == "physical-ai-h100gpu-nodes"]
    labels = {**pool.inputs["nodeLabels"], "physical-ai/gpu-driver": "aks"}
    step = Step(pool.urn, pool.type, "replace", old={**pool.inputs, "nodeLabels": labels}, new=dict(pool.inputs))
    run = Run({(step.urn, "replace"): step})
    settings = load("dev-westus2").settings
    if budgeted:
        settings = settings.model_copy(update={"time_to_first_gpu": budget(deploymentMinutes=45, nodeMinutes=60)})
    return judged(settings, declared, Preview(run, {}, Deployed(exists=True)))


def test_a_preview_compares_with_the_resources_before_it(simulate: Simulate) -> None:
    found = preview_of(simulate, budgeted=True)
    changed = {each["kind"]: each for each in found["changes"]}
    assert changed[DEPLOYMENT]["after"] > changed[DEPLOYMENT]["before"]
    (above,) = found["findings"]
    assert (above["setting"], above["severity"]) == (SETTINGS[DEPLOYMENT], "warning")
    assert "since this change" in above["message"]


def test_the_comment_of_a_pull_request_has_it_in_its_first_lines(simulate: Simulate) -> None:
    document: dict[str, Any] = {"firstGpu": preview_of(simulate, budgeted=True)}
    (line,) = over_budget(document)
    assert line.startswith("warning time-to-first-gpu, `timeToFirstGpu.deploymentMinutes`: ")
    assert "budget 45: longer by" in line
    assert line in first_gpu(document)
    quiet: dict[str, Any] = {"firstGpu": preview_of(simulate, budgeted=False)}
    assert over_budget(quiet) == []
    assert "since this change" in first_gpu(quiet)


def test_a_document_of_older_code_has_no_such_part() -> None:
    assert first_gpu({}) == ""
    assert over_budget({}) == []
