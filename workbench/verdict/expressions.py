"""Conversion of recorded values for an ARM template: real ids replace recorded ids, parameters replace secrets, and
`reference` expressions replace values that Azure computes. Pure functions.

ARM takes every text that begins with `[` for an expression (ARM docs, template-expressions).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from workbench.verdict.model import Hidden

PLACEHOLDER = "Placeholder-0-of-a-secret"
"""Value of every secret parameter: a placeholder that satisfies Azure's rules for passwords, so no real secret leaves
the machine.
"""


@dataclass(frozen=True)
class Names:
    """Recorded ids and placeholders of declared resources, each with the value that replaces it in a template."""

    ids: Mapping[str, str]
    """Real ARM id of a resource, by its id in the recording; only for resources whose recorded id is not the real
    one.
    """
    expressions: Mapping[str, str]
    """Template expressions, without brackets, by the placeholder of the computed value."""

    @cached_property
    def ids_in_lower_case(self) -> Sequence[tuple[str, str]]:
        """`ids` in their order, with the recorded ids in lower case: the case of an ARM id has no meaning."""
        return [(recorded.lower(), real) for recorded, real in self.ids.items()]

    @cached_property
    def beginnings(self) -> tuple[str, ...]:
        """The recorded ids in lower case."""
        return tuple(recorded for recorded, _ in self.ids_in_lower_case)


@dataclass
class Values:
    """Converter of recorded values for a template. It collects the template parameters that the values need."""

    names: Names
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])

    def value(self, value: Any) -> Any:
        """A value of a resource's body, converted for a template."""
        if isinstance(value, Hidden):
            return self._secret()
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(each) for each in cast("list[Any]", value)]
        if isinstance(value, Mapping):
            return {str(self.id(name)): self.value(item) for name, item in cast("Mapping[str, Any]", value).items()}
        return value

    def id(self, text: str) -> str:
        """The text with a recorded id at its beginning replaced by the real id. The text itself if it begins with no
        recorded id.
        """
        lower = text.lower()
        if not lower.startswith(self.names.beginnings):
            return text
        for recorded, real in self.names.ids_in_lower_case:
            if lower == recorded:
                return real
            if lower.startswith(f"{recorded}/"):
                return real + text[len(recorded) :]
        return text

    def text(self, text: str) -> str:
        """A text for a template. It becomes an expression if it contains a placeholder of a computed value."""
        text = self.id(text)
        stand_ins = [each for each in self.names.expressions if each in text]
        if not stand_ins:
            return f"[{text}" if text.startswith("[") else text
        pattern = "|".join(re.escape(each) for each in sorted(stand_ins, key=len, reverse=True))
        # A part of a longer number or word is something else: 203.0.113.7 is not in 203.0.113.70.
        parts = re.split(rf"(?<![\w.-])({pattern})(?![\w.-])", text)
        if len(parts) == 1:
            return f"[{text}" if text.startswith("[") else text
        terms = [
            self.names.expressions[part] if index % 2 else f"'{part.replace(chr(39), chr(39) * 2)}'"
            for index, part in enumerate(parts)
            if part
        ]
        return f"[{terms[0]}]" if len(terms) == 1 else f"[concat({', '.join(terms)})]"

    def _secret(self) -> str:
        name = f"secret{len(self.parameters) + 1}"
        self.parameters[name] = {"value": PLACEHOLDER}
        return f"[parameters('{name}')]"


def reference(resource_id: str, api_version: str, path: str) -> str:
    """An expression for a value that Azure computes for a resource. `path` is relative to the properties that a GET
    returns.
    """
    return f"reference('{resource_id}', '{api_version}').{path}"
