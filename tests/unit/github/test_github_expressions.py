"""The expressions of workflows, as the test that runs them reads them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.cases import in_one_test
from tests.support.github_expressions import filled, value

NAMES: dict[str, Any] = {
    "inputs.login": "true",
    "inputs.stack": "dev-westus2",
    "matrix.stack.name": "x",
    "always()": True,
    "failure()": False,
    "cancelled()": False,
    "hashFiles": lambda path: "hash" if path == "there" else "",
    "vars.DEPLOY": "true",
    "vars.X_RUNNER": "own",
}


@in_one_test(
    ("expression", "expected"),
    [
        ("inputs.stack", "dev-westus2"),
        ("inputs.login != 'true' && 'pip' || ''", ""),
        ("inputs.login == 'true' && 'requirements-deploy.txt' || 'requirements-dev.txt'", "requirements-deploy.txt"),
        ("failure()", False),
        ("!cancelled() && inputs.stack == 'dev-westus2'", True),
        ("always() && hashFiles('there') != ''", True),
        ("always() && hashFiles('preview/comment.md') != ''", False),
        ("vars.DEPLOY", "true"),
        ("vars.OTHER", ""),
        ("vars[format('{0}_RUNNER', matrix.stack.name)] || 'ubuntu-24.04'", "own"),
        ("fromJson('[\"a\"]')", ["a"]),
    ],
)
def test_an_expression_has_the_value_that_github_gives_it(expression: str, expected: Any) -> None:
    assert value(expression, NAMES) == expected


def test_a_text_is_filled_in() -> None:
    assert filled("${{ matrix.stack.name }}-preview", NAMES) == "x-preview"


def test_what_is_not_known_is_an_error() -> None:
    with pytest.raises(KeyError):
        value("inputs.other", NAMES)
    with pytest.raises(ValueError, match="hashFiles"):
        value("hashFiles('**/*.py')", NAMES)
