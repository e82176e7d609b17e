"""Recognition of users' names in documents, by the key and by the form of the value. Pure functions."""

from __future__ import annotations

import re

_KEY = re.compile(r"(^|[./_-])(user|username|user[-_]?name|owner|author|created[-_]?by|submitted[-_]?by|submitter"
                  r"|requester|email|upn|modified[-_]?by|updated[-_]?by)$", re.IGNORECASE)  # fmt: skip
_CAMEL = re.compile(
    r"(?:admin|login|git|db|database|smb|ssh|proxy)(?:User(?:[Nn]ame)?|Login)$|administratorLogin$"
    r"|(?:created|[mM]odified|updated|submitted|requested|deployed)By$"
)
_NOBODY = frozenset({
    "true", "false", "root", "default", "admin", "clusteradmin", "helm", "administrator", "azureuser", "nobody", "none",
    "user", "aks", "aksservice", "masterclient", "kube-admin", "platform", "hardware", "azure", "job",
})  # fmt: skip
_PLAIN = re.compile(r"[\w.-]{3,64}")
_SHORT = re.compile(r"[A-Za-z]{1,2}")
_PHRASE = re.compile(r"\w[\w .,'’\\:@-]{1,126}[\w.]")
_LAST = re.compile(r"[\\:]([\w.-]{3,64})$")
_MOST_WORDS = 5


def is_user(key: str, text: str) -> bool:
    """True if the value of a key is the name of a person. Groups and accounts of the system do not count."""
    if not (_KEY.search(key) or _CAMEL.search(key)) or text.lower() in _NOBODY or text.isdigit():
        return False
    return not text.startswith(("system:", "aks-", "physical-ai", "[")) and bool(text)


def is_plain(text: str) -> bool:
    """True for a name of one word. A name of one word is also replaced within texts."""
    return bool(_PLAIN.fullmatch(text))


def is_short(text: str) -> bool:
    """True for a name of one or two letters, which is replaced only as the value of a key, and not in texts."""
    return bool(_SHORT.fullmatch(text))


def is_phrase(text: str) -> bool:
    """True for a name of several words, and for a name after a domain or a login provider."""
    return bool(_PHRASE.fullmatch(text)) and len(text.split()) <= _MOST_WORDS


def last_part(text: str) -> str | None:
    """The name after a domain or a provider; None without one.

    >>> last_part("CORP\\\\ada"), last_part("Ada King")
    ('ada', None)
    """
    found = _LAST.search(text)
    return found[1] if found else None
