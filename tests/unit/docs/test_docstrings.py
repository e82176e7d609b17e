"""The linter of docstrings: texts that it reports, and texts that it lets pass."""

from __future__ import annotations

import pytest

from tests.support.lint_docstrings import bare_docstrings, findings


@pytest.mark.parametrize(
    "source",
    [
        '"""What a stack installs."""',
        'def run():\n    """Whether it runs."""',
        'class Pool:\n    """The pool."""\n\n    issuer: str\n    """Of the cluster\'s tokens."""',
        'LIMIT = 3\n"""\n    For each pool.\n"""',
    ],
)
def test_docstrings_without_a_noun_are_found(source: str):
    [(_, word)] = bare_docstrings(source)
    assert word in {"What", "Whether", "Of", "For"}


@pytest.mark.parametrize(
    "source",
    [
        '"""Software that a stack installs."""',
        'def run():\n    """True while it runs."""',
        '"""On-demand list price."""',
        'fixed = "Of what"',
    ],
)
def test_docstrings_with_a_noun_and_other_texts_pass(source: str):
    assert list(bare_docstrings(source)) == []


def test_docstrings_of_the_product_begin_with_a_noun():
    assert findings() == []
