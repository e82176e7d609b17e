"""Xids in messages: of the kernel log, NVSentinel's conditions, AKS's node problem detector, and people.

Pure functions.
"""

from __future__ import annotations

import re
from typing import Literal

_KERNEL = re.compile(r"(?<![A-Za-z])Xids?\s*\([^)\n]*\)\s*:\s*(\d{1,3})\b(?![:.]?\d)([^\n]{0,60})", re.IGNORECASE)
"""Expression for Xids in the kernel log: `Xid (PCI:0000:01:00): 79, …`; older drivers omit `PCI:`, and MIG adds a GPU
instance.
"""
_NUMBER = r"\d{1,3}(?![\w]|[:.]\d|[ -]*(?:times|x\b|GPUs?\b|nodes?\b|occurrences|events|seconds|minutes|hours|%))"
_WORDS = re.compile(
    rf"(?<![A-Za-z])Xid(?:s\b|\b|(?=[_A-Z]))[^\d\n]{{0,24}}?(?<![\d.:])({_NUMBER}(?:\s*(?:,|/|;|&|\band\b|\bor\b|,\s*and\b)\s*{_NUMBER})*)",
    re.IGNORECASE,
)
"""Expression for Xids in other texts: `Xid 13,43,45`, `XID errors 31, 79`, `XIDs 48 and 63`, `DCGM_FI_DEV_XID_ERRORS:
79`; it does not match the SXid of a switch.
"""
_SENTINEL = re.compile(r"\bErrorCode:(\d{1,3})\b")
_PLACE = re.compile(r"\b(?:GPU|device|card|node)s?[ #:]*\d+\b(?![,\d]*\s*Xid)", re.IGNORECASE)
"""Expression for the number of a GPU or node in a message, such as `GPU 3`; it is removed so that the number is not
read as an Xid code.
"""
_NVLINK = range(144, 151)
"""Xids of fifth-generation NVLink: the log line says whether the event was fatal, and a non-fatal event needs no
action (NVIDIA Xid catalog, sheet Xids 144-150).
"""

_CHANGED = re.compile(r"recovery action changed from [^\n]*?\bto\s+(?:0x[0-9a-f]+\s*)?\(([^)\n]+)\)", re.IGNORECASE)
"""Expression for a changed recovery action; the last one counts: `Xid (…): 154, GPU recovery action changed from 0x0
(None) to 0x2 (Node Reboot Required)`.
"""


def stated_advice(code: int, text: str) -> Literal["reboot", "none"] | None:
    """Action that the log line of an Xid advises, for Xids whose code alone does not tell: 154, and NVLink's 144 to
    150. None for all other codes, and for a line without advice.

    The action is `reboot` even where the line advises only a reset of a GPU: a restart includes the reset, and needs no
    drain of the GPU's peers.

    >>> stated_advice(154, "Xid 154 GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)")
    'reboot'
    """
    if code == 154 and (found := _CHANGED.findall(text)):
        return "none" if found[-1].strip().lower() == "none" else "reboot"
    lines = [each for each in _KERNEL.finditer(text) if int(each[1]) == code]
    if code in _NVLINK and lines:
        fatal = any(not _is_harmless(each) and re.search(r"\bfatal", each[2], re.IGNORECASE) for each in lines)
        return "reboot" if fatal else "none" if all(_is_harmless(each) for each in lines) else None
    return None


def codes_in(text: str) -> list[int]:
    """Codes of the Xids in a message that report a fault, each once.

    >>> codes_in("NVRM: Xid (PCI:0001:00:00): 79, pid='<unknown>', GPU has fallen off the bus.")
    [79]
    >>> codes_in("XID errors 31, 79 on GPU 3")
    [31, 79]
    """
    found = [(each.start(), int(each[1])) for each in _KERNEL.finditer(text) if not _is_harmless(each)]
    rest = _KERNEL.sub(lambda match: " " * len(match[0]), text)
    rest = _PLACE.sub(lambda match: "." * len(match[0]), rest)
    for match in _WORDS.finditer(rest):
        found += [(match.start(), int(code)) for code in re.findall(r"\d+", match[1])]
    found += [(match.start(), int(match[1])) for match in _SENTINEL.finditer(rest)]
    return list(dict.fromkeys(code for _, code in sorted(found, key=lambda each: each[0])))


def _is_harmless(line: re.Match[str]) -> bool:
    return int(line[1]) in _NVLINK and "nonfatal" in line[2].lower().replace("-", "")
