"""Removal of credentials: values found by the name of their key, or by their form. Pure functions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

REMOVED = "(removed)"
DROPPED_KEYS = frozenset({"managedFields", "caBundle", "kubectl.kubernetes.io/last-applied-configuration"})
"""Keys that are left out whole: copies of other objects, and certificates that name their owner."""
_TELLING = re.compile(
    r"(password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key|account[-_]?key|private[-_]?key|primary[-_]?key"
    r"|shared[-_]?key|credential|connection[-_]?string|kubeconfig|authorization|client[-_]?cert|[-_.]key$|^sas$|sas[-_]?url)",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"(name|names|namespace|ref|refs|reference|id|uri|path|paths|file|seconds|minutes|expiration|audience|type|kind|class"
    r"|mode|enabled|version|versions|size|policy|provider|count|length|source|keyvault|mount|mounts|label|selector)$",
    re.IGNORECASE,
)
_WHOLE_WORDS = frozenset({"nvidia.com/gpu.key", "matchLabelKeys"})
_KNOWN = re.compile(
    r"eyJ[\w-]{8,}\.[\w-]{8,}(\.[\w-]*)?"  # a JWT
    r"|-----BEGIN [A-Z ]*(PRIVATE KEY|CERTIFICATE)-----.*?(-----END [A-Z ]*-----|\Z)"
    r"|\b(gh[pousr]_|github_pat_|glpat-|nvapi-|hf_|sk-|xox[abprs]-|AKIA|ASIA)[\w-]{12,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"  # user and password of a URL
    r"|(?<=[Bb]earer )[\w.~+/=-]{12,}"
    r"|(?<=[Bb]asic )[\w+/=]{12,}"
    r"|(?<=sig=)[\w%+/=-]{16,}",
    re.DOTALL,
)
_ASSIGNED = re.compile(
    r"(?P<key>[\w.-]*(?:password|passwd|passphrase|secret|token|api_?key|access_?key|account_?key|private_?key|credential)"
    r"[\w.-]*)(?P<between>=|[\"']?[ \t]*:[ \t]*(?=\S)|[ \t]+(?=[^\s-]{16,}(?:\s|$)))(?P<value>[\"']?[^\s\"',;&{}]{4,})",
    re.IGNORECASE,
)
"""Assignments in text: settings of programs, command lines. A value after a colon counts at the start of a line."""
_OPAQUE = re.compile(r"(?<![\w/+.:@-])[A-Za-z0-9+/_-]{40,}={0,2}(?![\w/])")
_IS_PLAIN = re.compile(r"^[\"']?(\$|/|true$|false$|null$|none$|[0-9.]+$)", re.IGNORECASE)
_GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}")
_HEX = re.compile(r"^[0-9a-fA-F]+$")
_BITS = 4.2
"""Bits per character above which a long text counts as a key; names of objects have fewer."""


class Remover:
    """Walker over documents that removes credentials, and counts them."""

    def __init__(self) -> None:
        self.removed = 0

    def __call__(self, value: Any) -> Any:
        return self._clean(value)

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._clean(each) for each in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        given = cast("dict[str, Any]", value)
        found = {key: self._member(key, each) for key, each in given.items() if key not in DROPPED_KEYS}
        if isinstance(given.get("name"), str) and isinstance(given.get("value"), str) and is_telling(given["name"]):
            found["value"] = self._gone(given["value"])
        return found

    def _member(self, key: str, value: Any) -> Any:
        if isinstance(value, str) and is_telling(key):
            return self._gone(value)
        return self._clean(value)

    def _gone(self, value: str) -> str:
        if value in ("", REMOVED) or value.lower() in ("true", "false"):
            return value
        self.removed += 1
        return REMOVED

    def text(self, value: str) -> str:
        """A text without the parts that look like credentials."""
        if len(value) < 8:
            return value
        found, known = _KNOWN.subn(REMOVED, value)
        found = _ASSIGNED.sub(self._assigned, found)
        found = _OPAQUE.sub(self._opaque, found)
        self.removed += known
        return found

    def _assigned(self, found: re.Match[str]) -> str:
        key, between, value = found["key"], found["between"], found["value"]
        at_start = found.start() == 0 or found.string[: found.start()].rpartition("\n")[2].strip(" \"'-") == ""
        if value.strip("\"'") == REMOVED or _HARMLESS.search(key) or _IS_PLAIN.match(value):
            return found[0]
        if "=" not in between and not (at_start and (":" in between or key.startswith("-"))):
            return found[0]
        if ":" in between and "\n" not in found.string and not found.string.lstrip().startswith(("{", "-")):
            return found[0]  # a sentence such as `token: 403 Forbidden`
        self.removed += 1
        return f"{key}{between}{REMOVED}"

    def _opaque(self, found: re.Match[str]) -> str:
        text = found[0]
        kinds = sum(bool(re.search(each, text)) for each in ("[a-z]", "[A-Z]", "[0-9]"))
        if kinds < 3 or _HEX.match(text) or _GUID.search(text) or _entropy(text) < _BITS:
            return text
        self.removed += 1
        return REMOVED


def is_telling(key: str) -> bool:
    """True for the name of a setting or environment variable whose value is a credential.

    >>> is_telling("POSTGRES_PASSWORD"), is_telling("secretName"), is_telling("tokenExpirationSeconds")
    (True, False, False)
    """
    return key not in _WHOLE_WORDS and bool(_TELLING.search(key)) and not _HARMLESS.search(key)


def _entropy(text: str) -> float:
    counts: Mapping[str, int] = Counter(text)
    return -sum(each / len(text) * math.log2(each / len(text)) for each in counts.values())
