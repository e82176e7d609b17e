"""Explanations of Jinja's errors in plain words, and the position in the template that an error is about."""

from __future__ import annotations

import re
from collections.abc import Callable

_TOKENS = {
    "end of print statement": "`}}`",
    "begin of print statement": "`{{`",
    "end of statement block": "`%}`",
    "begin of statement block": "`{%`",
    "end of template": "the end of the file",
    "name": "a name",
}
_KINDS = {"dict": "map", "str": "text", "int": "number", "float": "number", "NoneType": "null", "None": "null"}


def _token(text: str) -> str:
    return _TOKENS.get(text, f"`{text}`")


def _kind(text: str) -> str:
    found = text.removesuffix(" object").strip("'")
    return f"a value that is a {_KINDS[found]}" if found in _KINDS else f"a {found}"


_MEANINGS: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (
        r"unexpected char ['\"](\\?.)['\"] at \d+",
        lambda found: (
            "a quoted text in an expression is not closed"
            if found[1] in ("'", '"', "\\'")
            else f"`{found[1]}` can't be part of an expression"
        ),
    ),
    (r"expected token '(.+)', got '(.+)'", lambda found: f"{_token(found[2])} where {_token(found[1])} is expected"),
    (r"Expected an expression, got '(.+)'", lambda found: f"{_token(found[1])} where a value is expected"),
    (r"unexpected end of template, expected '(.+)'", lambda found: f"{_token(found[1])} is missing"),
    (r"unexpected '(.+)', expected '(.+)'", lambda found: f"{_token(found[1])} where {_token(found[2])} is expected"),
    (r"unexpected '(.+)'", lambda found: f"{_token(found[1])} where something else is expected"),
    (
        r"Unexpected end of template.*needs to be closed is '(.+)'",
        lambda found: f"`{{% {found[1]} %}}` is not closed: `{{% end{found[1]} %}}` is missing",
    ),
    (
        r"Encountered unknown tag 'end(.+?)'\.",
        lambda found: f"`{{% end{found[1]} %}}` without `{{% {found[1]} %}}` before it",
    ),
    (r"Encountered unknown tag '(.+?)'\.", lambda found: f"`{{% {found[1]} %}}` is not a statement of Jinja"),
    (r"tag name expected", lambda _: "`{%` without a statement after it"),
    (r"Missing end of raw directive", lambda _: "`{% raw %}` is not closed: `{% endraw %}` is missing"),
    (r"Missing end of comment tag", lambda _: "a comment is not closed: `#}` is missing"),
    (r"No (filter|test) named '(.+?)'", lambda found: f"`{found[2]}` is not a {found[1]} of Jinja"),
    (r"can't assign to|cannot assign attribute", lambda _: "`{% set %}` needs a name before `=`"),
    (r"block '(.+)' defined twice", lambda found: f"`{{% block {found[1]} %}}` appears twice"),
    (r"('.+') is undefined", lambda found: f"{found[1]} is undefined: it is not in default-values, and not set"),
    (
        r"(?:'(\w+(?: object)?)'|(\S+ object)) has no (?:attribute|element) (.+)",
        lambda found: f"{_kind(found[1] or found[2])} has no {found[3]}",
    ),
    (r"access to attribute '(.+)' of", lambda found: f"`{found[1]}` is unsafe: templates can't reach it"),
    (r"is unsafe|not safely callable", lambda _: "the template calls what is unsafe: templates can't reach it"),
    (r"no loader for this environment", lambda _: "a template can't include, import or extend another file"),
    (r"[Dd]ivision by zero|modulo by zero", lambda _: "a division by zero"),
    (r"Range too big.*\((\d+)\)", lambda found: f"`range` has more than {found[1]} numbers"),
    (r"unsupported operand|can only concatenate|not supported between", lambda _: "values of types that do not fit"),
    (r"'(\w+)' object is not (callable|iterable)", lambda found: f"{_kind(found[1])} is not {found[2]}"),
    (r"positional argument|keyword argument", lambda _: "a filter or function with wrong arguments"),
    (r"recursion", lambda _: "expressions are nested too deeply"),
)
_OFFSET = re.compile(r"unexpected char .* at (\d+)$")


def meaning(error: Exception) -> str:
    """One line that explains an error of Jinja in terms of the template."""
    message = " ".join((getattr(error, "message", None) or str(error)).split())
    for pattern, text in _MEANINGS:
        if found := re.search(pattern, message):
            return text(found)
    return "an expression can't be computed"


def offset(error: Exception) -> int | None:
    """Offset in the template of a character that Jinja does not expect; None if the error is not about a character."""
    found = _OFFSET.search(getattr(error, "message", None) or "")
    return int(found[1]) if found else None
