"""Jinja as OSMO uses it: in a sandbox, and with an error for undefined names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from workbench.osmo.refusal import Refusal, crash
from workbench.osmo.template_errors import meaning


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The Jinja environment that renders all templates."""
    return SandboxedEnvironment(undefined=StrictUndefined)


@lru_cache(maxsize=2048)
def _compiled(text: str) -> Template:
    return environment().from_string(text)


def render(text: str, tokens: Mapping[str, Any]) -> str:
    """The text of a Jinja template rendered with `tokens`. The template runs in this process, so it must come from a
    configuration, not from a user.

    Raises Refusal of the kind OSMOUsageError if Jinja reports an error in the template. Raises Refusal of the kind
    CRASH if rendering raises TypeError or ValueError, because OSMO crashes on these two.
    """
    if "{" not in text:
        return without_last_newline(text)
    try:
        return _compiled(text).render(tokens)
    except TemplateError as error:
        raise Refusal("OSMOUsageError", f"'{text}': {meaning(error)}") from None
    except (TypeError, ValueError) as error:
        raise crash(f"'{text}': {meaning(error)}") from None


def without_last_newline(text: str) -> str:
    """A text without expressions as Jinja would render it: every line end becomes a line feed, and a line end after the
    last line is removed.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain.removesuffix("\n")
