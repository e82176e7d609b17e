"""Expressions of the Common Expression Language, as far as the project's rules use it."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.kubernetes.cel import EvaluationError, Unsupported, evaluate
from tests.support.cases import in_one_test

SCOPE: dict[str, Any] = {
    "event": {"agent": "syslog-health-monitor", "isFatal": True, "errorCode": ["48", "79"]},
    "node": {"metadata": {"labels": {"a/b": "x"}}, "spec": {}},
}


@in_one_test(
    ("expression", "value"),
    [
        ('event.agent == "syslog-health-monitor" && event.isFatal == true', True),
        ('event.errorCode.exists(code, code in ["46", "48"])', True),
        ('event.errorCode.all(code, code in ["48"])', False),
        ('"a/b" in node.metadata.labels && node.metadata.labels["a/b"] != "y"', True),
        ('!("c" in node.metadata.labels && node.metadata.labels["c"] == "false")', True),
        ("node.spec.?unschedulable.orValue(false)", False),
        ('node.metadata.?labels.?missing.orValue("none") + "!"', "none!"),
        ("node.?metadata.labels.orValue([])", {"a/b": "x"}),
        ("has(node.spec.taints) || has(node.spec)", True),
        ("node.metadata.?annotations.orValue({}).exists(key, key == 'a') || [1].size() == 0", False),
        ("event.agent.startsWith('sys') && dyn(event.errorCode).size() == 2 && string(1) != '0'", True),
        ("1 < 2 && 'it\\'s' == \"it's\" && [1, 2].exists(n, n >= 2)", True),
        ("node.spec.gone == 1 || true", True),
        ("true || node.spec.gone == 1", True),
        ("node.spec.gone == 1 && false", False),
        ("false || !true || (false)", False),
        ("null == null", True),
        ("event.isFatal ? [1, 2].map(n, n + 1) : [0]", [2, 3]),
        ("false ? 1 : true ? 2 : 3", 2),
        ("{'a': {'b': [1]}, 'c': 2}['a']", {"b": [1]}),
        ("event.errorCode.filter(code, code != '48').join(', ') + ['a', 'b'].join('-')", "79a-b"),
    ],
)
def test_the_value_of_an_expression(expression: str, value: Any) -> None:
    assert evaluate(expression, SCOPE) == value


@in_one_test(
    "expression",
    [
        "node.spec.gone",
        "gone",
        'event.errorCode["x"]',
        "node.spec.gone == 1 && true",
        "!1",
        '1 + "a"',
        "event.agent && true",
        "1 ? 2 : 3",
        "[1, 2].join(', ')",
    ],
)
def test_an_expression_without_a_value_is_an_error(expression: str) -> None:
    with pytest.raises(EvaluationError):
        evaluate(expression, SCOPE)


@pytest.mark.parametrize(
    "expression",
    ["", "size(event)", "event.agent.endsWith('s')", "true ? 1", "(true", "true true", "[1, 2].sort(n, n)", "{'a' 1}"],
)
def test_what_is_not_known_is_refused_and_never_guessed(expression: str) -> None:
    with pytest.raises(Unsupported):
        evaluate(expression, SCOPE)
