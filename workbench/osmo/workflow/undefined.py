"""Search for all undefined names in a template. Rendering would end at the first one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from jinja2 import TemplateError, meta, nodes
from jinja2.runtime import ChainableUndefined
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import missing

from workbench.osmo.jinja import environment

_GIVEN = frozenset({"range", "dict", "lipsum", "cycler", "joiner", "namespace"})
"""Names that are defined in every Jinja template (jinja2/defaults.py)."""
MOST = 50
"""Largest number of names that are listed."""


class _Recorded(ChainableUndefined):
    """Jinja object for an undefined name, which records the name and then behaves like a text."""

    _names: ClassVar[set[str]]
    """Undefined names that the rendering has read so far."""

    def _record(self) -> str:
        if self._undefined_name is not None and self._undefined_obj is missing:
            self._names.add(self._undefined_name)
        return "0"

    def __str__(self) -> str:
        return self._record()

    def __html__(self) -> str:
        return self._record()

    def __iter__(self) -> Iterator[Any]:
        self._record()
        return iter(())

    def __len__(self) -> int:
        self._record()
        return 0

    def __bool__(self) -> bool:
        self._record()
        return False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._record()
        return self

    def __getitem__(self, key: Any) -> Any:
        self._record()
        return self

    def __call__(self, *_: Any, **__: Any) -> Any:
        self._record()
        return self

    def _number(self, *_: Any) -> int:
        self._record()
        return 0

    def _text(self, other: Any) -> Any:
        self._record()
        return f"0{other}" if isinstance(other, str) else other

    def __eq__(self, other: object) -> bool:
        self._record()
        return False

    def __hash__(self) -> int:
        return id(type(self))

    __add__ = __radd__ = _text
    __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __neg__ = __pos__ = __int__ = _number
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __pow__ = __rpow__ = _number
    __float__ = _number
    __lt__ = __le__ = __gt__ = __ge__ = _number


def undefined(text: str, values: Mapping[str, Any]) -> dict[str, int]:
    """Undefined names of a template, each with the first line that uses it; empty if the first error in the template is
    of another kind.

    To find the names, the template is rendered with a placeholder text for each undefined name. Names in parts that are
    only rendered for other values are not found.
    """
    found: set[str] = set()

    class Recorded(_Recorded):
        _names = found

    try:
        tree = environment().parse(text)
    except TemplateError:
        return {}
    own = SandboxedEnvironment(undefined=Recorded)
    try:
        own.from_string(text).render(values)
    except Exception:
        # A filter that takes no text ends the analysis: then every name counts that no default or test guards.
        found |= meta.find_undeclared_variables(tree) - set(values) - _guarded(tree) - _GIVEN
    lines: dict[str, int] = {}
    for node in tree.find_all(nodes.Name):
        if node.name in found:
            lines[node.name] = min(node.lineno, lines.get(node.name, node.lineno))
    return dict(sorted(lines.items(), key=lambda item: item[1])[:MOST])


def _guarded(tree: nodes.Template) -> set[str]:
    """Names that may be undefined: the template has a default for them, or tests if they are defined."""
    tests = [test.node for test in tree.find_all(nodes.Test) if test.name in ("defined", "undefined")]
    tests += [each.node for each in tree.find_all(nodes.Filter) if each.name in ("default", "d") and each.node]
    return {each.name for each in tests if isinstance(each, nodes.Name)}
