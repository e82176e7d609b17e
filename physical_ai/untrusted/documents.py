"""Reading of YAML of unknown origin, with limits on depth and size that count expanded aliases and merge keys.

Without limits, a few hundred bytes could make a reader run for hours, use all memory, or end the process: libyaml
composes nested values by unlimited recursion (yaml/libyaml#287).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, cast

import yaml

from physical_ai.safe_yaml import LOADER
from physical_ai.untrusted.files import LARGEST

DEEPEST = 100
"""Largest depth of nesting. Pods have twelve levels."""
MOST_NODES = 50_000
"""Maximum number of keys and values, with aliases expanded."""
MOST_TEXT = 2 * LARGEST
"""Maximum total length of all scalars in characters, with aliases expanded."""
LONGEST_NUMBER = 100
"""Maximum length of a number in characters. Python needs quadratic time to convert between text and integers, and
refuses long numbers.
"""

_compose = cast("Callable[..., object]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
_parse = cast("Callable[..., Iterator[yaml.Event]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType]
_NUMBER = re.compile(r"[-+.0-9][-+.0-9a-fA-FxX_:]*")
_NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_MOST_DIRECTIVES = 8
_SHORT = 32 * 1024
"""Length in characters up to which PyYAML's own parser reads a text in a fraction of a second."""
_DIFFERENT = re.compile(r"[\t!?\ufeff]|\S#|:[\]},]")
"""Expression for characters that libyaml and PyYAML may parse differently. A text without a match is parsed alike by
both (tests/unit/untrusted compares the parsers on random texts).
"""


class LimitExceeded(yaml.MarkedYAMLError):
    """Raised where a text may be YAML, but its value is too large, too deep or endless."""

    def __init__(self, problem: str, mark: yaml.Mark | None = None) -> None:
        super().__init__(problem=problem, problem_mark=mark)
        self.message = problem


def load(text: str) -> Any:
    """Value of a single document in YAML 1.1. It is read as libyaml, Helm and Pulumi read it (the last two use libyaml
    translated to Go).

    Raises yaml.YAMLError.
    """
    check(text)
    return _load(text, LOADER)


def load_for_python(text: str) -> Any:
    """Value of a single document as a Python program with `yaml.safe_load`, such as OSMO, reads it.

    libyaml is a different parser: it accepts a tab after a value and a comment right after `|`, refuses `{key:}`, and
    reads a lone `!` as another value. Raises yaml.YAMLError.
    """
    check_for_python(text)
    return _load(text, _python_loader(text))


def compose_for_python(text: str) -> yaml.Node | None:
    """Nodes of a single document as a Python program with `yaml.safe_load` reads them. Raises yaml.YAMLError."""
    check_for_python(text)
    return cast("yaml.Node | None", _compose(text, _python_loader(text)))


@lru_cache(maxsize=4)
def _python_loader(text: str) -> Any:
    """Class of a YAML loader that reads `text` with the same result as `yaml.safe_load`: libyaml's fast loader if it is
    known to agree with PyYAML's own loader on the text; otherwise PyYAML's own.

    The loaders disagree on a byte order mark, for example, which only PyYAML treats as a character.
    """
    if "!" in text or "\ufeff" in text:
        return yaml.SafeLoader
    try:
        check(text)
    except yaml.YAMLError:
        return yaml.SafeLoader
    return LOADER


def _load(text: str, loader: Any) -> Any:
    try:
        return yaml.load(text, loader)  # noqa: S506 - a safe one
    except (ValueError, LookupError, AttributeError, TypeError, OverflowError, RecursionError) as error:
        # PyYAML does not catch these errors, for values that do not fit their tag or form: `!!bool x`, `2001-99-99`.
        raise yaml.YAMLError(f"a value can't be read: {error}") from None


def compose(text: str) -> yaml.Node | None:
    """Nodes of a single document, read by libyaml. Raises yaml.YAMLError."""
    check(text)
    return cast("yaml.Node | None", _compose(text, LOADER))


@lru_cache(maxsize=4)
def check_for_python(text: str) -> None:
    """Checks a text like `check`, but with PyYAML's own scanner and parser, which `yaml.safe_load` uses.

    PyYAML takes seconds for a long text. A long text is therefore checked with libyaml if it has no characters that the
    two parsers may read differently.
    """
    if len(text) > _SHORT and not _DIFFERENT.search(text):
        check(text)
        return
    try:
        _count(text, yaml.SafeLoader)
    except LimitExceeded:
        raise
    except yaml.YAMLError as error:
        check(text)  # libyaml's messages are the ones that are explained to users
        raise error from None


@lru_cache(maxsize=4)
def check(text: str) -> None:
    """Raises LimitExceeded for a text beyond the limits, or another yaml.YAMLError for a text that is not YAML."""
    _count(text, LOADER)


def _count(text: str, loader: Any) -> None:
    if len(text) > LARGEST:
        raise LimitExceeded(f"the text is longer than {LARGEST >> 20} MiB")
    if len(_DIRECTIVE.findall(text)) > _MOST_DIRECTIVES:
        raise LimitExceeded(f"more than {_MOST_DIRECTIVES} lines begin with %")
    counter = _Counter()
    try:
        for event in _parse(text, loader):
            counter.add(event)
    except UnicodeEncodeError as error:
        raise yaml.YAMLError(f"the text holds characters that are not Unicode: {error.reason}") from None


class _Size:
    """Size of a value: its nodes, its text, and its depth."""

    def __init__(self, anchor: str | None) -> None:
        self.anchor = anchor
        self.nodes, self.text, self.depth = 1, 0, 1

    def include(self, other: _Size) -> None:
        self.nodes += other.nodes
        self.text += other.text
        self.depth = max(self.depth, other.depth + 1)


class _Counter:
    """Counter of a text's parser events, which counts each alias with everything that it stands for."""

    def __init__(self) -> None:
        self._open = [_Size(None)]
        self._anchored: dict[str, _Size] = {}

    def add(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._close(_scalar(event), event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(self._open) > DEEPEST:
                raise LimitExceeded("this is nested too deeply", event.start_mark)
            self._open.append(_Size(event.anchor))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(self._open.pop(), event)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if any(size.anchor == event.anchor for size in self._open):
            raise LimitExceeded(f"the alias *{event.anchor} refers to a value that contains it", event.start_mark)
        # An undefined alias is reported by the composer.
        if event.anchor in self._anchored:
            self._close(self._anchored[event.anchor], event)

    def _close(self, size: _Size, event: yaml.Event) -> None:
        if size.anchor is not None:
            self._anchored[size.anchor] = size
        holder = self._open[-1]
        holder.include(size)
        if len(self._open) + size.depth > DEEPEST + 1:
            raise LimitExceeded("this is nested too deeply", event.start_mark)
        if holder.nodes > MOST_NODES or holder.text > MOST_TEXT:
            problem = f"there are more than {MOST_NODES:,} values, or {MOST_TEXT >> 20} MiB of text, in this document"
            raise LimitExceeded(f"{problem} (aliases count as what they refer to)", event.start_mark)


def _scalar(event: yaml.ScalarEvent) -> _Size:
    size, value = _Size(event.anchor), event.value
    size.text = len(value)
    is_number = event.tag in _NUMBER_TAGS or (event.implicit[0] and _NUMBER.fullmatch(value))
    if len(value) > LONGEST_NUMBER and is_number:
        raise LimitExceeded(f"this number has more than {LONGEST_NUMBER} characters", event.start_mark)
    return size
