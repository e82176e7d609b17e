"""Removal of credentials from texts: values after words such as `password`, users in addresses, and known forms of keys
and tokens. Pure functions.

Each regular expression is limited in length or starts at a word boundary, so the time grows no faster than the length
of a text.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from workbench.recordings.telling import is_telling

REMOVED = "(removed)"
GONE = re.compile(r"^\(?removed(?:: \d+ characters\))?\)?$")
"""Texts that this program writes in place of a removed text."""
_KNOWN = re.compile(
    r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?"  # a JWT
    r"|-----BEGIN [A-Z ]{0,40}(?:KEY|CERTIFICATE|KEY BLOCK|MESSAGE)-----.*?(?:-----END [A-Z ]{0,40}-----|\Z)"
    r"|(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-|nvapi-|hf_|sk-|xox[abeprs]-|xapp-|AKIA|ASIA|npm_|pypi-|dckr_pat_"
    r"|dckr_oat_|AIza|wandb_v1_|pul-|dop_v1_)[\w-]{8,}+"
    r"|[\w~.-]{2,4}[0-9]Q~[\w~.-]{16,64}"  # a secret of an application of Entra
    r"|(?<=hooks\.slack\.com/)[^\s\"']++"
    r"|(?<=webhook\.office\.com/)[^\s\"']++"
    r"|(?<=[Bb]earer )[\w.~+/=-]{8,}+|(?<=BEARER )[\w.~+/=-]{8,}+"
    r"|(?<=[Bb]asic )[\w+/]{12,}+={0,2}"
    r"|(?<=sig=)[^\s&\"']{4,}+"
    r"|(?<=[?&]code=)[^\s&\"']++|(?<=[?&]key=)[^\s&\"']++"
    r"|(?<![\w$/])\$(?:apr1|2[aby]|5|6|y)\$[^\s:\"']++",
    re.DOTALL,
)
_SCHEME = re.compile(r"(?<=://)[^\s\"'<>]{1,2048}+")
_STORAGE = ("abfs", "abfss", "wasb", "wasbs", "ssh", "git+ssh")
"""URL schemes that have a container or an account before the `@`. It is kept, unless it contains a colon."""
_KEY = re.compile(r"(?<![\w.-])[\w.-]++")
_BETWEEN = re.compile(r"[\"'\]\\]{0,4}[ \t]{0,64}(?::=|=>|[:=])[ \t]{0,64}|[ \t]{1,64}")
_VALUE = re.compile(r"\\?\"(?:[^\"\\\n]|\\.)*+\\?\"?|'[^'\n]*+'?|[^\s\"'][^\s\"']*+(?:[\"'][^\s\"':,;)}\]]++)?")
_REST = re.compile(r"[^\n]++")
_BLANK = re.compile(r"[ \t]{1,64}")
_PATH = re.compile(r"^(?:/[a-z][\w.-]*){2,}$|^[-([{]")
_EMPTY = frozenset({"", "true", "false", "null", "none", "|", ">", "{", "[", "{}", "[]"})
_NAMED = re.compile(r"\"[a-z0-9][a-z0-9./-]{0,252}\"(?!\s*:)")
_AT_START = re.compile(r"[ \t\"'-]{0,128}(?:export |set |ENV )?$")
_ORDINARY = frozenset({
    "a", "an", "and", "any", "are", "as", "at", "authentication", "be", "because", "been", "but", "by",
    "can", "cannot", "context", "could", "denied", "dial", "did", "does", "error", "expired", "failed",
    "failure", "fetch", "file", "for", "forbidden", "found", "from", "get", "had", "has", "have", "if",
    "in", "invalid", "missing", "mount", "must", "name", "no", "none", "not", "null", "object", "of", "on",
    "or", "post", "provided", "references", "refused", "rejected", "request", "required", "requires",
    "resource", "review", "rpc", "server", "should", "such", "that", "the", "this", "to", "unable",
    "unauthorized", "unexpected", "until", "was", "were", "when", "which", "will", "with", "without",
})  # fmt: skip
"""Words that are no credential when they follow a word such as `password` in a sentence, as in `password is
required`.
"""
_CONNECTING = frozenset({"is", "key", "keys", "value", "was", "the", "a", "basic", "bearer", "used"})
_ALONE = frozenset({"secret", "secrets", "token", "tokens", "password", "credential", "credentials", "cookie", "auth"})
_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-auth-token"})
_OPAQUE = re.compile(r"(?<![\w/+.:@-])[A-Za-z0-9+/_-]{40,}+={0,2}(?![\w/])")
_GUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}")
_HEX = re.compile(r"^[0-9a-fA-F]+$")
_KINDS = tuple(re.compile(each) for each in ("[a-z]", "[A-Z]", "[0-9]"))
_BITS = 4.2
"""Entropy in bits per character. A long text with more counts as a key; names of objects have less."""


def cleaned(text: str) -> tuple[str, int]:
    """The text without the parts that look like credentials, and the number of removed parts."""
    if len(text) < 4:
        return text, 0
    found, known = _KNOWN.subn(REMOVED, text)
    count = [known]

    def users(match: re.Match[str]) -> str:
        user, mark, rest = match[0].rpartition("@")
        scheme = match.string[max(match.start() - 16, 0) : match.start() - 3]
        plain = ":" not in user and (scheme.rpartition(" ")[2].strip("\"'(=") in _STORAGE or rest.startswith("sha256:"))
        if not mark or plain or rest.startswith("sha256:") or user == REMOVED:
            return match[0]
        count[0] += 1
        return f"{REMOVED}@{rest}"

    def opaque(match: re.Match[str]) -> str:
        own = match[0]
        is_name = _HEX.match(own) or _GUID.search(own) or any(not each.search(own) for each in _KINDS)
        if is_name or _entropy(own) < _BITS:
            return own
        count[0] += 1
        return REMOVED

    if "://" in found:
        found = _SCHEME.sub(users, found)
    found, assigned = _assigned(found)
    found = _OPAQUE.sub(opaque, found)
    return found, count[0] + assigned


def _assigned(text: str) -> tuple[str, int]:
    """The text without the values that follow words such as `password`, and the number of removed values."""
    out: list[str] = []
    done, removed, position = 0, 0, 0
    while (key := _KEY.search(text, position)) is not None:
        position = key.end()
        if not is_telling(key[0]):
            continue
        span = _span(text, key)
        if span is None:
            continue
        out += [text[done : span[0]], REMOVED]
        done = position = span[1]
        removed += 1
    return "".join([*out, text[done:]]), removed


def _span(text: str, key: re.Match[str]) -> tuple[int, int] | None:
    """Start and end of the value that follows a word such as `password`; None if no value follows."""
    between = _BETWEEN.match(text, key.end())
    if between is None:
        return None
    start, is_blank = between.end(), not between[0].strip()
    is_line = _is_start(text, key.start()) and text[start : start + 1] not in ("'", '"')
    if not is_blank and (is_line or key[0].lower().strip("-") in _HEADERS):
        return _of_value(text, start, _REST.match(text, start), ordinary=_EMPTY)
    found: re.Match[str] | None = None
    for _ in range(4):
        gone = text.startswith(REMOVED, start) or (is_blank and _NAMED.match(text, start))
        found = None if gone else _VALUE.match(text, start)
        blank = None if found is None else _BLANK.match(text, found.end())
        if found is None or blank is None or found[0].rstrip(":=,.").lower() not in _CONNECTING:
            break
        start = blank.end()
    if found is not None and is_blank and _PATH.match(found[0]):
        return None
    return _of_value(text, start, found, ordinary=_ORDINARY)


def _is_start(text: str, position: int) -> bool:
    """True if only blanks, dashes, quotes, or a word such as `export`, are before a position in its line."""
    return bool(_AT_START.fullmatch(text[max(position - 128, 0) : position].rpartition("\n")[2]))


def _of_value(
    text: str, start: int, found: re.Match[str] | None, *, ordinary: frozenset[str]
) -> tuple[int, int] | None:
    """Start and end of a matched value, without trailing punctuation; None if the value is a word that is no
    credential.
    """
    if found is None or text.startswith(REMOVED, start):
        return None
    bare = found[0].strip().strip("\"'\\").rstrip(":,.;)")
    if bare.lower() in ordinary or bare.lower() in _EMPTY or GONE.match(bare + ")"):
        return None
    if ordinary is _ORDINARY and bare.lower() in _ALONE:
        return None  # the next word is one itself
    end = found.end() if found[0][0] in "\"'\\" else start + len(found[0].rstrip("\"',;)}]"))
    return start, max(end, start + 1)


def _entropy(text: str) -> float:
    counts = Counter(text)
    return -sum(each / len(text) * math.log2(each / len(text)) for each in counts.values())
