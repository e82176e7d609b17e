"""Jinja as OSMO uses it: sandboxed, an undefined name is an error."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from physical_ai.osmo.refusal import Refusal


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The environment of all templates."""
    return SandboxedEnvironment(undefined=StrictUndefined)


@lru_cache(maxsize=2048)
def _compiled(text: str) -> Template:
    return environment().from_string(text)


def render(text: str, tokens: Mapping[str, Any]) -> str:
    """The text with its expressions replaced, in this process: for templates of a configuration, not of users.

    Raises Refusal: OSMOUsageError with the Jinja error as cause, or the error itself where Jinja lets one through.
    """
    if "{" not in text:
        return without_last_newline(text)
    try:
        return _compiled(text).render(tokens)
    except TemplateError as error:
        raise refused(text, error) from None
    except TypeError as error:
        raise Refusal("TypeError", f"'{text}': {error}") from None
    except ValueError as error:
        raise Refusal("ValueError", f"'{text}': {error}") from None


def refused(text: str, error: TemplateError) -> Refusal:
    """What OSMO makes of an error of Jinja's."""
    return Refusal("OSMOUsageError", f"'{text}': {error.message or error}", cause=type(error).__name__)


def without_last_newline(text: str) -> str:
    """What Jinja makes of a text without expressions: line ends become \\n, and one at the end goes."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain.removesuffix("\n")
