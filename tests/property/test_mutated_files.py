"""Mutated files: whatever their text, the check ends within its limits, with findings, and never by an error.

`make test-deep` tries 10,000 workflows; all examples are the same in every run.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from physical_ai.planning.osmo_service import as_yaml
from physical_ai.repository import STACKS
from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.layers.document import read_document
from physical_ai.untrusted import documents, process
from tests.support.paths import SAMPLES
from workbench.osmo.lint import Context, check_text, of_chart_values, of_stack
from workbench.osmo.lint.isolated import LIMIT
from workbench.osmo.refusal import Refusal
from workbench.osmo.shapes import a_map

DEEP = settings.get_current_profile_name() != "few"
LINT = Path(__file__).parents[1] / "fixtures" / "osmo" / "lint"
PIECES = [
    *("{{", "}}", "{%", "%}", "{#", "{{input:0}}", "{{ host:x }}", "{{output}}", "\n", "\t", "  "),
    *(": ", "- ", "? ", "#", "[", "]", "{", "}", "'", '"', "|\n", ">-\n", "---\n", "%x"),
    *("&a ", "*a", "<<: *a", "!!int ", "!!binary ", "!!set ", "null", "true", ".inf", "-.nan", "1e999"),
    *("0x7f", "010", "1:30", "2001-01-01", "-1", "9" * 30, "9999999999d", "P1D", "5GB", "10%", "100000Ti", ""),
    *("ä", "\u202e", "\x85", "\ufeff", "\ue0001\ue001", "\U0001f600", "\x00", "x" * 300),
    *("s3://", "a/b:c@sha256:d", "../..", "/etc/passwd", "localpath: ", "regex: '('", "exitActions: {FAIL: 1-}"),
    *("services:\n", "workflow:\n", "default-values:\n", "version: 2\n", "frequency: true", "name: a=b"),
]


RAW = re.compile(
    r"Traceback|<class |object has no|NoneType|is not subscriptable|not iterable$|positional argument|unexpected char '"
    r"|expected token|end of print|end of statement block|unknown tag|object is not|Input should"
    r"|unhashable|invalid literal|unsupported operand|string indices|expected string or bytes|codec can't"
    r"|could not convert|Errno|unacceptable character|while (parsing|scanning|constructing)|<unicode string>|^'\w+'$"
)
"""What Python, Jinja, PyYAML and Pydantic say themselves."""


def mutated(text: str, number: int) -> str:
    """The text with a few changes, always the same for a number."""
    chance = random.Random(number)  # noqa: S311 - for examples
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(text) + 1)
        to = min(len(text), at + chance.choice((1, 2, 5, 30, 200)))
        piece = chance.choice((*PIECES, text[at:to], text[at:to] * chance.randint(2, 50)))
        match chance.randrange(4):
            case 0:
                text = text[:at] + text[to:]
            case 1:
                text = text[:at] + piece + text[at:]
            case 2:
                text = text[:at] + piece + text[to:]
            case _:
                lines = text.split("\n")
                other, line = chance.randrange(len(lines)), chance.randrange(len(lines))
                before, colon, _ = lines[line].partition(": ")
                lines[line] = before + colon + piece if colon else lines[other]
                text = "\n".join(lines)
    return text


def texts(sources: list[str], count: int) -> Iterator[str]:
    for number in range(count):
        yield mutated(sources[number % len(sources)], number)


@lru_cache(maxsize=1)
def context() -> Context:
    return of_stack(load("dev-westus2").settings)


def checked(text: str) -> int:
    result = check_text(text, "w.yaml", context(), SAMPLES)
    lines = text.count("\n") + 1
    assert all(1 <= finding.line <= lines and finding.column >= 1 and finding.problem for finding in result.findings)
    raw = [finding.problem for finding in result.findings if RAW.search(finding.problem)]
    assert not raw, f"a library's own text: {raw}"
    return len(result.findings)


def loaded(text: str) -> int:
    try:
        return len(of_chart_values(a_map(documents.load(text)), "values.yaml").config.pool_names)
    except (Refusal, documents.yaml.YAMLError):
        return 0


def read(text: str) -> int:
    document = read_document(text, "x.yaml")
    if document.faults:
        assert not any(RAW.search(fault.problem) for fault in document.faults)
        return len(document.faults)
    try:
        load("dev-westus2", [Overlay("x.yaml", document.data, document.lines)])
    except SettingsError as error:
        return len(error.faults)
    return 0


def failed(work: Callable[[], Any]) -> str | None:
    try:
        work()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def assert_all_end(check: Callable[[str], int], examples: list[str]) -> None:
    works = [partial(failed, partial(check, text)) for text in examples]
    for text, answer in zip(examples, process.run_each(works, LIMIT), strict=True):
        assert answer is None, f"{answer!r} for {text!r}"


WORKFLOWS = [path.read_text() for path in sorted((*SAMPLES.glob("*.yaml"), *LINT.glob("*/fail.yaml")))]
VALUES = [text for text in WORKFLOWS if text.startswith("services:")]
LAYERS = [path.read_text() for path in sorted((STACKS / "layers").rglob("*.yaml"))]


@pytest.mark.parametrize("part", range(10))
def test_the_check_of_a_mutated_workflow_ends(part: int) -> None:
    assert_all_end(checked, list(texts(WORKFLOWS, 10_000 if DEEP else 40))[part::10])


def test_the_check_and_the_use_of_mutated_values_end() -> None:
    sources = [*VALUES, as_yaml(load("dev-westus2").settings)]
    examples = list(texts(sources, 2000 if DEEP else 30))
    assert_all_end(checked, examples)
    assert_all_end(loaded, examples)


def test_a_mutated_layer_is_read_or_refused() -> None:
    assert_all_end(read, list(texts(LAYERS, 1000 if DEEP else 40)))
