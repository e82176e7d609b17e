"""YAML of unknown origin: what is refused before it is expanded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from physical_ai.untrusted import documents
from physical_ai.untrusted.documents import DEEPEST, LimitExceeded, compose, load
from tests.support.cases import in_one_test


def powers(first: str, item: str, levels: int = 9) -> str:
    """A document in which each level holds nine aliases of the level before."""
    lines = [f"a0: &a0 {first}"]
    for level in range(1, levels):
        aliases = ",".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} {item % aliases}")
    return "\n".join(lines)


BOMBS = {
    "a value that contains itself": ("a: &a {b: *a}", "contains it"),
    "a list that contains itself": ("&a [*a]", "contains it"),
    "a cycle through another value": ("a: &a\n  b: &b\n    c: *a\n", "contains it"),
    "aliases of aliases": (powers("[x]", "[%s]"), "more than 50,000 values"),
    "merges of merges": (powers("{k: v}", "{<<: [%s]}"), "more than 50,000 values"),
    "aliases as keys": (powers("x", "{? [%s] : y}"), "more than 50,000 values"),
    "aliases of a long text": (f"a: &a {'x' * 100_000}\nb: [{','.join(['*a'] * 100)}]", "8 MiB of text"),
    "nested lists": ("[" * 30_000, "nested too deeply"),
    "nested maps": ("{a: " * 30_000, "nested too deeply"),
    "nested items": ("- " * 30_000, "nested too deeply"),
    "nested keys": ("? " * 30_000, "nested too deeply"),
    "nested blocks": ("\n".join(" " * depth + "a:" for depth in range(300)), "nested too deeply"),
    "nested aliases": ("\n".join(["a0: &a0 x", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 300))]), "too deeply"),
    "many values": (f"[{'1,' * 60_000}]", "more than 50,000 values"),
    "many documents": ("---\n[1,2,3]\n" * 20_000, "more than 50,000 values"),
    "a number to the base of 60": (f"a: 1{':1' * 400_000}", "more than 100 characters"),
    "a long number": (f"a: {'9' * 5000}", "more than 100 characters"),
    "a long hexadecimal number": (f"a: 0x{'f' * 5000}", "more than 100 characters"),
    "a text that is tagged as a number": (f"a: !!int '{'9' * 5000}'", "more than 100 characters"),
    "directives": ("%TAG !a! tag:a\n" * 100_000 + "---\na", "begin with %"),
    "a long text": ("a" * (5 << 20), "longer than 4 MiB"),
}


@in_one_test("name", BOMBS)
def test_a_small_text_can_not_become_a_large_value(name: str) -> None:
    text, problem = BOMBS[name]
    for read in (load, compose):
        with pytest.raises(LimitExceeded, match=problem):
            read(text)


def test_the_place_is_known() -> None:
    with pytest.raises(LimitExceeded) as refused:
        load("a: 1\nb: &b\n  c: [*b]\n")
    mark = refused.value.problem_mark
    assert mark is not None
    assert (mark.line, mark.column) == (2, 6)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a {b: 1}\nc: {<<: *a, d: [*a, *a]}\n",
        "[" * (DEEPEST - 1) + "1" + "]" * (DEEPEST - 1),
        f"a: {'9' * 100}\nb: '{'9' * 300}'\n",
        "%YAML 1.1\n---\na: |\n  %x\n",
        "",
    ],
)
def test_what_stays_within_the_limits_is_read_as_by_pyyaml(text: str) -> None:
    assert load(text) == yaml.safe_load(text)


@in_one_test(
    "text",
    [
        "a: !!bool maybe",
        "a: !!int ''",
        "a: !!timestamp x",
        "a: 2001-99-99",
        "a: !!float x",
        "a: !!python/object/apply:os.system [id]",
        "{[a]: 1}",
        "a: *nowhere",
        "a: 1\n---\nb: 2\n",
        "\x00",
        "\ud800",
    ],
)
def test_every_other_fault_is_an_error_of_yaml(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        load(text)


PIECES = (
    *("a", "key", "1", " ", "  ", "\n", "\n  ", ":", ": ", "- ", "-", "? ", "?", "[", "]", "{", "}", ",", ", "),
    *("&x ", "*x", "!!str ", "!t ", "!", "|", "|-\n", ">\n", "'", '"', "\\", "#", " #c", "%", "---\n", "...\n"),
    *("@", "`", "\t", "\r", "\u2028", "\u0085", "\ufeff", "\x07", "\U0001f600", "<<: ", "~", "0x1", "="),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def read(load: Callable[[str], Any], text: str) -> str:
    """The value, or `refused`."""
    try:
        return repr(load(text))
    except yaml.YAMLError:
        return "refused"
    except (ValueError, LookupError, AttributeError, TypeError, OverflowError):
        return "refused"  # what PyYAML does not turn into an error of its own


@pytest.mark.parametrize("short", [32 * 1024, 0], ids=["short texts", "long texts"])
@given(text=TEXTS, inside=st.booleans())
@example(text="image: a\t", inside=False)
@example(text="|# c\n a", inside=True)
@example(text="{key:}", inside=True)
@example(text="[b??  ]", inside=True)
@example(text="!", inside=True)
@example(text="\r\ufeff", inside=False)
def test_what_a_python_program_reads_is_read_as_it_reads_it(short: int, text: str, inside: bool) -> None:
    """Long texts are left to the faster parser where they have no sign on which the two differ."""
    document = f"workflow:\n  name: x\n  v: {text}" if inside else text
    documents.check_for_python.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "_SHORT", short)
        try:
            found = read(documents.load_for_python, document)
        except documents.LimitExceeded:
            return
    assert found == read(yaml.safe_load, document)
