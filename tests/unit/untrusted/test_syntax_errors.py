"""Syntax errors are explained in terms of the text, and never repeat it."""

from __future__ import annotations

import pytest
import yaml

from physical_ai.untrusted import documents
from physical_ai.untrusted.syntax_errors import MEANINGS, UNKNOWN, meaning
from tests.support.cases import in_one_test

TEXTS = {
    "a: b: c": "mapping values are not allowed",
    "a:\n\tb: 1": "that cannot start any token",
    "a: @x": "that cannot start any token",
    "a: *x": "undefined alias",
    'a: "b': "unexpected end of stream",
    "a: [1, 2": "did not find expected ',' or ']'",
    "a: {b: 1": "did not find expected ',' or '}'",
    'a: "\\q"': "unknown escape character",
    "- a\nb: 1": "did not find expected '-' indicator",
    "a: 1\n- b": "did not find expected key",
    " a: 1\nb: 2": "did not find expected <document start>",
    "? a\n: b\n:c": "could not find expected ':'",
    "a: &\n": "alphabetic or numeric character",
    "a: !!python/object:os.x 1": "could not determine a constructor",
    "a: b\n---\nc: d": "but found another document",
    "%x\n---\na: 1": "unknown directive name",
    "a: [,]": "did not find expected node content",
    "a: {{ b }}": "unhashable key",
    "a: !!map x": "but found scalar",
    "a: !!binary x": "failed to decode base64",
    "a: !!int ''": "a value can't be read",
    "a: 2001-99-99": "a value can't be read",
    "a: - b": "block sequence entries are not allowed",
    "a: ? b": "mapping keys are not allowed",
    "[a:b:]": "found unexpected ':'",
    "a: \x00": "control characters are not allowed",
}


FOR_PYTHON = {
    "a: b\t": r"'\t' that cannot start any token",
    "a: |# c\n b": "expected chomping or indentation indicators",
}
"""What libyaml takes, and PyYAML's own scanner does not."""


@pytest.mark.parametrize("text", FOR_PYTHON)
def test_an_error_for_python_alone_is_explained(text: str) -> None:
    documents.load(text)
    with pytest.raises(yaml.YAMLError) as refused:
        documents.load_for_python(text)
    assert meaning(refused.value) == MEANINGS[FOR_PYTHON[text]]


ONLY_LIBYAML = ("%x\n---\na: 1", "[a:b:]")
"""What PyYAML's own scanner takes."""


@in_one_test("text", [text for text in TEXTS if text not in ONLY_LIBYAML])
def test_an_error_of_both_readers_has_one_explanation(text: str) -> None:
    with pytest.raises(yaml.YAMLError) as refused:
        documents.load_for_python(text)
    assert meaning(refused.value) == MEANINGS[TEXTS[text]]


@in_one_test("text", TEXTS)
def test_a_known_error_is_explained(text: str) -> None:
    with pytest.raises(yaml.YAMLError) as refused:
        documents.load(text)
    assert meaning(refused.value) == MEANINGS[TEXTS[text]]


def test_every_meaning_has_a_text_that_leads_to_it() -> None:
    assert {*TEXTS.values(), *FOR_PYTHON.values()} == set(MEANINGS)


def test_an_unknown_error_is_explained_in_general_terms() -> None:
    error = yaml.MarkedYAMLError("while reading", None, "something new", yaml.Mark("f", 0, 0, 0, "token: secret", 0))
    assert meaning(error) == meaning(yaml.YAMLError("something\nnew")) == UNKNOWN


def test_a_limit_keeps_its_message() -> None:
    with pytest.raises(documents.LimitExceeded) as refused:
        documents.load("a: &a [*a]")
    assert meaning(refused.value) == refused.value.message
