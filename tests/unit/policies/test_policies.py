"""Each rule has an example that passes and one that fails, and tolerates what is not known yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from physical_ai.settings.facts.labels import is_reserved
from tests.support.cases import in_one_test
from workbench.policies import RULES, UNKNOWN, Resource, Secret, Stack, evaluate
from workbench.policies.document import FILE, document
from workbench.policies.examples import EXAMPLES, Example

CASES = {f"{rule}-{i}": (rule, example) for rule, all_ in EXAMPLES.items() for i, example in enumerate(all_)}


def rules_broken(stack: Stack, only: str) -> list[str]:
    return [finding.problem for finding in evaluate(stack, [rule for rule in RULES if rule.id == only])]


def failing(is_right: Callable[[str, Example], bool]) -> list[str]:
    """Names of the examples of which something does not hold. There are hundreds, and a test of each costs more than
    what it does."""
    return [name for name, (rule, example) in CASES.items() if not is_right(rule, example)]


def test_every_rule_has_examples_and_its_own_name() -> None:
    assert [rule.id for rule in RULES] == list(dict.fromkeys(rule.id for rule in RULES))
    assert {rule.id for rule in RULES} == set(EXAMPLES)


def test_passing_example() -> None:
    assert failing(lambda rule, example: rules_broken(example.stack(broken=False), rule) == []) == []


def test_failing_example_describes_what_to_do() -> None:
    def described(rule: str, example: Example) -> bool:
        messages = rules_broken(example.stack(broken=True), rule)
        return bool(messages) and all(len(message) > 5 for message in messages)

    assert failing(described) == []


def test_what_is_not_known_yet_raises_nothing() -> None:
    def nothing(rule: str, example: Example) -> bool:
        stack = example.stack(broken=False)
        resource, *others = stack.resources
        blank = replace(resource, inputs=dict.fromkeys(resource.inputs, UNKNOWN))
        found = evaluate(replace(stack, resources=(blank, *others)), [each for each in RULES if each.id == rule])
        return not any(each.where.partition(".")[0] in blank.inputs for each in found)

    assert failing(nothing) == []


def test_every_rule_gives_a_reason_in_a_sentence_and_a_link() -> None:
    assert all(rule.reason.endswith(".") and rule.reason[0].isupper() for rule in RULES)
    assert [rule.id for rule in RULES if not rule.link.startswith("https://")] == []


def test_an_example_changes_something_to_break_the_rule() -> None:
    assert failing(lambda rule, example: example.stack(broken=False) != example.stack(broken=True)) == []


@pytest.mark.parametrize("name", ["UNKNOWN", "missing"])
def test_rules_on_the_complete_stack_keep_quiet_where_nothing_is_known(name: str) -> None:
    inputs = {"autoUpgradeProfile": UNKNOWN, "nodeLabels": UNKNOWN} if name == "UNKNOWN" else {}
    resources = tuple(
        Resource(kind, "it", inputs, urn=kind) for rule in RULES if rule.needs_whole_stack for kind in rule.types
    )
    assert evaluate(Stack("dev", resources), [rule for rule in RULES if rule.needs_whole_stack]) == []


def test_components_are_not_judged_as_resources() -> None:
    component = Resource("physical-ai:index:Platform", "physical-ai", custom=False)
    assert evaluate(Stack("prod", (component,))) == []


def test_a_finding_reads_as_path_fix_and_reason() -> None:
    stack = EXAMPLES["role-scope"][0].stack(broken=True)
    (finding,) = evaluate(stack, [rule for rule in RULES if rule.id == "role-scope"])
    assert str(finding).splitlines() == [
        "error role-scope: azure-native:authorization:RoleAssignment it scope",
        "  /subscriptions/s is too broad; assign the role on the resource that is used",
        "  A role on the subscription applies to everything that is ever created in it.",
    ]


def test_a_secret_does_not_show_in_a_failed_assertion() -> None:
    assert "hunter2" not in repr(Secret("hunter2"))


@in_one_test(
    ("key", "reserved"),
    [
        ("kubernetes.azure.com/mode", True),
        ("topology.kubernetes.io/zone", True),
        ("x.k8s.io/y", True),
        ("nvidia.com/gpu.deploy.driver", False),
        ("mykubernetes.io/x", False),
        ("kubernetes.io", False),
        ("plain", False),
        ("agentpool", True),
        ("Accelerator", True),
        ("storageprofile", True),
        ("storagetier", True),
        ("example.com/accelerator", False),
    ],
)
def test_reserved_labels(key: str, reserved: bool) -> None:
    assert is_reserved(key) is reserved


def test_the_reference_matches_the_rules() -> None:
    assert FILE.read_text() == document(), "run python -m workbench.policies.document"


def test_the_reference_shows_every_rule_broken_and_kept() -> None:
    page = document()
    for rule in RULES:
        section = page.partition(f"\n### {rule.id}\n")[2].partition("\n### ")[0]
        assert "Violates it:" in section
        assert rule.reason in section
        assert rule.link in section
