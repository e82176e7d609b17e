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
    """A template with its expressions replaced. It is rendered in this process, so it must be from a configuration, not
    from a user.

    Raises Refusal: an OSMOUsageError for an error of Jinja, and a crash of OSMO for other errors.
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
    r"""The result of Jinja for a text without expressions: line ends become \n, and one at the end of the text is
    removed.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain.removesuffix("\n")
