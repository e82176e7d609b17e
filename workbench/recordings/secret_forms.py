"""Removal of credentials that have a known form: tokens of services, private keys, options of programs, long random
texts. Pure functions.

Each regular expression starts at a word boundary or is limited in length, so the time grows no faster than the length
of a text.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

REMOVED = "(removed)"
GONE = re.compile(r"^\(?removed(?:: \d+ characters\))?\)?$")
"""Pattern of the texts with which this program replaces a removed text, such as `(removed)`."""
_KNOWN = re.compile(
    r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?"  # a JWT
    r"|-----BEGIN [A-Z ]{0,40}(?:KEY|CERTIFICATE|KEY BLOCK|MESSAGE)-----.*?(?:-----END [A-Z ]{0,40}-----|\Z)"
    r"|(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|gl(?:pat|rt|dt|ft|cbt|ptt|imt|soat|agent|ffct)-|nvapi-|hf_|sk-(?!ssh-|ecdsa-)"
    r"|[sr]k_(?:live|test)_|whsec_|xox[abeprs]-|xapp-|npm_|pypi-|dckr_[po]at_|AIza|GOCSPX-|ya29\.|wandb_v1_|pul-|dop_v1_"
    r"|hv[sbr]\.|dp\.(?:st|pt|ct|sa|scim|audit)\.|tskey-|AGE-SECRET-KEY-|SG\.|shp[a-z]{2}_|lin_api_|figd_|PMAK-|NRAK-|ATATT3|r8_"
    r"|gsk_|rpa_|sbp_)(?=[\w.-]{0,128}[0-9A-Z])[\w.-]{8,}+"
    r"|(?<![A-Za-z0-9])(?:(?:AKIA|ASIA)[A-Z0-9]{12,}+|dapi[0-9a-f]{32}|key-[0-9a-f]{32})(?![A-Za-z0-9])"
    r"|(?<![\w.-])[a-z0-9]{6}\.(?![0-9a-f]{16})(?=[a-z]{0,15}[0-9])[a-z0-9]{16}(?![\w.-])"  # a bootstrap token
    r"|[\w~.-]{2,4}[0-9]Q~[\w~.-]{16,64}"  # a secret of an application of Entra
    r"|(?<=hooks\.slack\.com/)[^\s\"']++"
    r"|(?<=webhook\.office\.com/)[^\s\"']++"
    r"|(?<=/api/webhooks/)[^\s\"']++"
    r"|(?<=/bot)[0-9]{6,12}:[\w-]{20,}+"
    r"|(?<=[Bb]earer )[\w.~+/=-]{8,}+|(?<=BEARER )[\w.~+/=-]{8,}+"
    r"|(?<=[Bb]asic )[\w+/]{12,}+={0,2}"
    r"|(?<=sig=)[^\s&\"']{4,}+|(?<=sig%3[Dd])[^\s&\"']{4,}+"
    r"|(?<=[?&]code=)[^\s&\"']++|(?<=[?&]key=)[^\s&\"']++"
    r"|(?<![\w$/])\$(?:apr1|2[aby]|5|6|y)\$[^\s:\"']++"
    r"|(?:(?<=ssh-rsa )|(?<=ssh-dss )|(?<=-ed25519 )|(?<=-nistp\d{3} )|(?<=@openssh\.com ))"
    r"AAAA[\w+/]{16,}+={0,2}(?: [^\s\"',\\]{1,128}+)?",  # a public key, which names its owner
    re.DOTALL,
)
_OPTIONS = re.compile(
    r"(?<![\w.-])(?:sshpass|mysql\w{0,12}|mariadb\w{0,12}|docker|podman|nerdctl|helm|oras|crane|skopeo|az|redis-cli|mongo\w{0,8}"
    r"|psql|sqlcmd|bcp|ipmitool|smbclient|ldap\w{2,8}|curl|wget|http|mosquitto_\w{3})(?= )[^\n|;&]{0,400}"
)
"""Pattern of a command line of a program that takes a credential in a short option, such as `-p`."""
_USER = re.compile(r"(?<= -)(?:-user[ =]|-proxy-user[ =]|u ?|U ?)[\"']?[\w.\\@-]{0,64}[:%]([^\s\"']{1,256})")
_PASS = re.compile(r"(?<= -)[paPw][ =]?([^\s\"'=-][^\s\"']{3,256}|\"[^\"\n]{1,256}\"|'[^'\n]{1,256}')")
_SCHEME = re.compile(r"(?<=://)[^\s\"'<>]{1,2048}+")
_STORAGE = ("abfs", "abfss", "wasb", "wasbs", "ssh", "git+ssh")
"""URL schemes with the name of a container or an account before the `@`. The name is kept, unless it contains a
colon.
"""
_OPAQUE = re.compile(r"(?<![\w/+.:@-])[A-Za-z0-9+/_-]{40,}+={0,2}(?![\w/])")
_DENSE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{20,}+(?![A-Za-z0-9])")
_GUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}")
_PLAIN_WORD = re.compile(r"[A-Za-z]{0,24}[0-9]{0,6}")
"""Pattern of a part of a name, such as the name of a GPU: letters, then digits. In a part of a key, letters and digits
alternate.
"""
_HEX = re.compile(r"^[0-9a-fA-F]+$")
_KINDS: Sequence[re.Pattern[str]] = tuple(re.compile(each) for each in ("[a-z]", "[A-Z]", "[0-9]"))
_BITS = 4.2
"""Entropy in bits per character. A long text with at least this entropy counts as a key; names of objects have less."""
_MIXED = 0.4
"""Share of adjacent characters that are of different kinds: digits, capitals, small letters. A text with at least this
share counts as a key; names in CamelCase have less.
"""
_WORDLIKE = re.compile(
    r"(?:[A-Za-z]{1,24}|[a-z]{1,24}[0-9]{1,3}|[a-z0-9]{1,5}|[0-9]{1,5}|v[0-9]{1,3}[a-z]{0,5}[0-9]{0,2}"
    r"|[bcdfghjklmnpqrstvwxz2456789]{8,10})"
)
"""Pattern of one part of an object's name. The last alternative matches a suffix that Kubernetes generates."""


def without_forms(text: str) -> tuple[str, int]:
    """The text without credentials of a known form, and the number of removals. Random texts are left to
    `without_opaque`.
    """
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

    def option(match: re.Match[str]) -> str:
        if GONE.match(match[1].strip("\"'")):
            return match[0]
        count[0] += 1
        return f"{match[0][: match.start(1) - match.start()]}{REMOVED}"

    def command(match: re.Match[str]) -> str:
        return _PASS.sub(option, _USER.sub(option, match[0]))

    if "://" in found:
        found = _SCHEME.sub(users, found)
    if " -" in found:
        found = _OPTIONS.sub(command, found)
    return found, count[0]


def without_opaque(text: str) -> tuple[str, int]:
    """The text without long random parts, and the number of removals."""
    count = [0]

    def gone(judge: Callable[[str], bool]) -> Callable[[re.Match[str]], str]:
        def replaced(match: re.Match[str]) -> str:
            if not judge(match[0]):
                return match[0]
            count[0] += 1
            return REMOVED

        return replaced

    found = _OPAQUE.sub(gone(_is_long_key), text)
    return _DENSE.sub(gone(is_mixed), found), count[0]


def _is_long_key(text: str) -> bool:
    words = all(_PLAIN_WORD.fullmatch(each) for each in re.split(r"[-_/+]", text))
    named = words or _HEX.match(text) or _GUID.search(text) or any(not each.search(text) for each in _KINDS)
    return not named and _entropy(text) >= _BITS


def is_mixed(text: str) -> bool:
    """True for a text that changes too often between digits, capitals and small letters to be a word or a name.

    >>> is_mixed("StandardNCadsH100v5Family"), is_mixed("Qv7xP1m42Kt9eWq0Zr5b")
    (False, True)
    """
    if _HEX.match(text) or any(not each.search(text) for each in _KINDS):
        return False
    kinds = ["d" if each.isdigit() else "u" if each.isupper() else "l" for each in text]
    return sum(one != other for one, other in itertools.pairwise(kinds)) >= _MIXED * (len(text) - 1)


def is_name(text: str) -> bool:
    """True for a word, a number of a few digits, or a name in the form of Kubernetes object names.

    >>> is_name("osmo/osmo-tls-x7z"), is_name("Qv7xPlum42Kite"), is_name("9f86d081884c7d65"), is_name("expired.")
    (True, False, False, True)
    """
    if _GUID.search(text):
        return True
    parts = re.split(r"[-./:_,;]", text.strip(".,:;"))
    return all(not each or (_WORDLIKE.fullmatch(each) and not _is_letters_of_a_key(each)) for each in parts)


def _is_letters_of_a_key(text: str) -> bool:
    changes = sum(one.isupper() != other.isupper() for one, other in itertools.pairwise(text))
    return len(text) > 8 and text.isalpha() and changes >= _MIXED * (len(text) - 1)


def _entropy(text: str) -> float:
    counts = Counter(text)
    return -sum(each / len(text) * math.log2(each / len(text)) for each in counts.values())
