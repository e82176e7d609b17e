"""Reader for the part of kubectl's JSONPath that wait conditions use:
`{.status.conditions[?(@.type=="Ready")].status}`.

Pure functions.
"""

from __future__ import annotations

import re
from typing import Any, cast

_STEP = re.compile(
    r"""\.(?P<member>(?:\\.|[^.\[\]\\{}\s])+)
      | \[(?P<quote>['"])(?P<quoted>.*?)(?P=quote)\]
      | \[(?P<index>-?\d+)\]
      | \[\*\]
      | \[\?\(@(?P<filter>(?:\.[\w-]+)+)\s*==\s*(?P<fq>['"])(?P<wanted>.*?)(?P=fq)\)\]""",
    re.VERBOSE,
)


class JsonPathError(Exception):
    """Error for an expression that this module cannot read."""


def find(document: Any, expression: str) -> list[Any]:
    """Every value that the expression leads to; empty if a step of the path is missing.

    The braces may be left out. Raises JsonPathError if the expression is not understood.
    """
    steps = expression.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    if steps and not steps.startswith((".", "[")):
        steps = f".{steps}"
    values, at = [document], 0
    while at < len(steps):
        step = _STEP.match(steps, at)
        if step is None:
            raise JsonPathError(
                f"'{expression}' is not a JSONPath this provider reads (stopped at '{steps[at:]}'); "
                'write it as {.status.phase} or {.status.conditions[?(@.type=="Ready")].status}'
            )
        values = [found for value in values for found in _take(value, step)]
        at = step.end()
    return values


def _take(value: Any, step: re.Match[str]) -> list[Any]:
    name = step["quoted"] if step["quoted"] is not None else step["member"]
    if name is not None:
        key = re.sub(r"\\(.)", r"\1", name)
        return [cast("dict[str, Any]", value)[key]] if isinstance(value, dict) and key in value else []
    if isinstance(value, dict) and step["index"] is None and step["filter"] is None:
        return list(cast("dict[str, Any]", value).values())
    if not isinstance(value, list):
        return []
    items = cast("list[Any]", value)
    if step["index"] is not None:
        index = int(step["index"])
        return items[index : index + 1 or None] if -len(items) <= index < len(items) else []
    if step["filter"] is not None:
        return [item for item in items if step["wanted"] in [str(found) for found in find(item, step["filter"])]]
    return items
