"""Removal of credentials from texts: values after words such as `password`, and texts with the form of a credential.
Pure functions.

A telling word is a word whose value is a credential (`is_telling`). The value is always removed if the word is followed
by a colon or an equals sign, or is an option of a command. After a blank, it depends on the word: the value of
`password` is removed; but `secret` and `token` are often followed by an object's name or by prose, so their value is
removed only if it is no name.
"""

from __future__ import annotations

import re

from workbench.recordings.secret_forms import GONE, REMOVED, is_name, without_forms, without_opaque
from workbench.recordings.telling import is_count, is_reason, is_telling, names_password

__all__ = ["GONE", "REMOVED", "cleaned"]

_KEY = re.compile(r"(?<![\w.-])[\w.-]++")
_PAIR = re.compile(
    r"[\"'\\]{0,4}[,;\s]{0,8}[\"'\\]{0,4}(?<=[\"'\\,;\s])[Vv]al(?:ue)?[\"'\\]{0,4}[ \t]{0,4}[:=][ \t]{0,64}"
)
"""Text between the name and the value of a pair, such as `"name": "TOKEN", "value": "…"`."""
_BETWEEN = re.compile(r"[\"'\]\\]{0,4}[ \t]{0,64}(?::=|=>|[:=])[ \t]{0,64}|%3[AaDd]|[ \t]{1,64}")
_VALUE = re.compile(r"\\?\"(?:[^\"\\\n]|\\.)*+\\?\"?|'[^'\n]*+'?|[^\s\"'][^\s\"']*+(?:[\"'][^\s\"':,;)}\]]++)?")
_REST = re.compile(r"[^\n]++")
_NEXT_LINE = re.compile(r"[\"']{0,2}:[ \t]{0,64}\r?\n[ \t]{0,64}(?=[^\s:]{1,256}[ \t]{0,64}(?:\r?\n|\Z))")
_ELEMENT = re.compile(r">(?=[^<>\n]{1,1024}</)")
_IN_ELEMENT = re.compile(r"[^<\n]++")
_FOR = re.compile(r"(?:for|of|to|at|on)[ \t]{1,8}[^\s]{1,64}[ \t]{1,8}(?:is|was|=)[ \t]{1,8}", re.IGNORECASE)
_PARENTHESES = re.compile(r"\((?=[^()\s]{4,256}\))")
_IN_PARENTHESES = re.compile(r"[^()\s]++")
_BLANK = re.compile(r"[ \t]{1,64}")
_PATH = re.compile(r"^(?:/[a-z][\w.-]*){2,}$|^[-([{]")
_EMPTY = frozenset({"", "true", "false", "null", "none", "|", ">", "{", "[", "{}", "[]", "ok", "yes", "no", "on", "off",
                    "enabled", "disabled", "ready", "expired"})  # fmt: skip
_AT_START = re.compile(r"[ \t\"'-]{0,128}(?:export |set |ENV )?$")
_ORDINARY = frozenset({
    "a", "an", "and", "any", "are", "as", "at", "auth", "authentication", "be", "because", "been", "but", "by", "can",
    "cannot", "change", "changed", "changes", "check", "context", "could", "database", "denied", "dial", "did", "does",
    "error", "exceeded", "expired", "expires", "failed", "failure", "fetch", "field", "file", "files", "for",
    "forbidden", "found", "from", "generated", "generation", "get", "grant", "had", "has", "hash", "hashes", "have",
    "if", "in", "incorrect", "invalid", "length", "login", "logins", "manager", "mechanism", "mismatch", "missing",
    "mount", "must", "name", "no", "none", "not", "null", "object", "of", "on", "or", "policies", "policy", "post",
    "prompt", "protected", "provided", "references", "refused", "rejected", "request", "required", "requires", "reset",
    "resource", "review", "rotated", "rotation", "rpc", "secret", "server", "should", "store", "such", "that", "the",
    "this", "to", "unable", "unauthorized", "unexpected", "unset", "until", "updated", "was", "were", "when", "which",
    "will", "with", "without", "wrong",
})  # fmt: skip
"""Words that are not taken for a credential when they follow a word such as `password`, because error reports continue
with them. Every other word may be a credential.
"""
_CONNECTING = frozenset({"is", "key", "keys", "value", "was", "the", "a", "basic", "bearer", "used"})
_ALONE = frozenset({"secret", "secrets", "token", "tokens", "password", "credential", "credentials", "cookie", "auth"})
_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-auth-token"})
_NOUNS = frozenset({"secret", "secrets", "token", "credential", "credentials", "auth", "cache"})
"""Words after which a colon may begin the reason of an error, as in `error in token: connection refused`."""
_REASON = re.compile(r"[a-z]{2,24}[:,]?")
_ALSO_BEFORE_BLANKS = frozenset({"key", "session"})
_PINS = re.compile(r"(?:^|[^a-z])(?:pin|otp|totp|mfa)$", re.IGNORECASE)

Span = tuple[int, int]


def cleaned(text: str) -> tuple[str, int]:
    """The text without the parts that look like credentials, and the number of removed parts."""
    if len(text) < 4:
        return text, 0
    found, known = without_forms(text)
    found, assigned = _assigned(found)
    found, opaque = without_opaque(found)
    return found, known + assigned + opaque


def _assigned(text: str) -> tuple[str, int]:
    """The text without the values after words such as `password`, and the number of removed values."""
    out: list[str] = []
    done, removed, position = 0, 0, 0
    while (key := _KEY.search(text, position)) is not None:
        position = key.end()
        if not is_telling(key[0]) and key[0].lower() not in _ALSO_BEFORE_BLANKS:
            continue
        span = _span(text, key)
        if span is None:
            continue
        out += [text[done : span[0]], REMOVED]
        done = position = span[1]
        removed += 1
    return "".join([*out, text[done:]]), removed


def _span(text: str, key: re.Match[str]) -> Span | None:
    """Start and end of the value that follows a word such as `password`; None if no value follows."""
    if (inside := _inside(text, key)) is not None:
        return inside
    between = _PAIR.match(text, key.end()) or _BETWEEN.match(text, key.end())
    if between is None or is_reason(key[0]):
        return None
    if not between[0].strip():
        return _after_blank(text, key, between.end())
    is_tag = between[0] == ":" and text[key.start() - 1 : key.start()] == "/"  # of an image
    return _after_mark(text, key, between) if is_telling(key[0]) and not is_tag else None


def _after_mark(text: str, key: re.Match[str], between: re.Match[str]) -> Span | None:
    """Start and end of the value after a colon or an equals sign; None if the value is no credential. If `key` begins
    its line, the value extends to the end of the line.
    """
    word, start = key[0].lower(), between.end()
    is_line = _is_start(text, key.start()) and text[start : start + 1] not in ("'", '"')
    if is_line or word.strip("-") in _HEADERS:
        found, ordinary = _REST.match(text, start), _EMPTY
    else:
        (start, found), ordinary = _connected(text, start), _ORDINARY
    if found is None or is_count(word, found[0]):
        return None
    if not is_line and word in _NOUNS and between[0].startswith(":") and _REASON.fullmatch(found[0]):
        return None  # such as `error in token: connection refused`
    return _of_value(text, start, found, ordinary=ordinary)


def _inside(text: str, key: re.Match[str]) -> Span | None:
    """Start and end of the value that the XML element `key` contains; or, if `key` is a word for a password, of the
    value on the following line. None if there is no such value.
    """
    if not is_telling(key[0]):
        return None
    if (element := _ELEMENT.match(text, key.end())) is not None and text[key.start() - 1 : key.start()] == "<":
        return _of_value(text, element.end(), _IN_ELEMENT.match(text, element.end()), ordinary=_EMPTY)
    if names_password(key[0]) and (following := _NEXT_LINE.match(text, key.end())) is not None:
        return _of_value(text, following.end(), _VALUE.match(text, following.end()), ordinary=_ORDINARY)
    return None


def _after_blank(text: str, key: re.Match[str], start: int) -> Span | None:
    """Start and end of the value after a blank; None if the value is no credential.

    After an option of a command, or a word for a password, every value counts as a credential, except words of
    `_ORDINARY`. After any other word, a value counts as a credential only if it is no name.
    """
    word = key[0]
    if (about := _FOR.match(text, start)) is not None:
        start = about.end()
    if (opened := _PARENTHESES.match(text, start)) is not None:
        inside = _IN_PARENTHESES.match(text, opened.end())
        if inside is None or is_name(inside[0]) or not is_telling(word):
            return None
        return _of_value(text, opened.end(), inside, ordinary=_ORDINARY)
    start, found = _connected(text, start)
    if found is None or _PATH.match(found[0]):
        return None
    bare = found[0].strip("\"'\\ .,:;)")
    if not (word.startswith("-") or names_password(word)):
        is_number = bare.isdigit() and (len(bare) >= 6 or (len(bare) >= 4 and _PINS.search(word) is not None))
        if is_count(word, bare) or (all(map(is_name, bare.split())) and not is_number):
            return None
    return _of_value(text, start, found, ordinary=_ORDINARY)


def _connected(text: str, start: int) -> tuple[int, re.Match[str] | None]:
    """Start and match of the first value after connecting words such as `is` or `the`. The match is None if no value
    follows.
    """
    found: re.Match[str] | None = None
    for _ in range(4):
        found = None if text.startswith(REMOVED, start) else _VALUE.match(text, start)
        blank = None if found is None else _BLANK.match(text, found.end())
        if found is None or blank is None or found[0].rstrip(":=,.").lower() not in _CONNECTING:
            break
        start = blank.end()
    return start, found


def _is_start(text: str, position: int) -> bool:
    """True if only blanks, dashes, quotes, or a word such as `export`, are before a position in its line."""
    return bool(_AT_START.fullmatch(text[max(position - 128, 0) : position].rpartition("\n")[2]))


def _of_value(text: str, start: int, found: re.Match[str] | None, *, ordinary: frozenset[str]) -> Span | None:
    """Start and end of the value in `found`, without quotes and punctuation around it; None if the value is a word of
    `ordinary`, or was already removed.
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
