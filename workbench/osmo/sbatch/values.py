"""Parsers for the values of `sbatch` options: amounts, times, GPUs, variables.

Each raises `Wrong` for a value that cannot be converted.
"""

from __future__ import annotations

import re

from workbench.osmo.sbatch.report import Wrong, quoted

_MEMORY = re.compile(r"(\d{1,15})([KMGT]?)B?", re.IGNORECASE)
_MEBI = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024 * 1024}
_TIME = re.compile(r"(?:(\d{1,9})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def count(text: str, what: str) -> int:
    """The whole number in `text`, which must be at least 1. `what`: name of the option, for the error message."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
        if re.fullmatch(r"[0-9]+[,-][0-9,-]+", text):
            raise Wrong(f"--{what}={quoted(text)} leaves the number open", f"Write one number: --{what}=2")
        raise Wrong(f"--{what}={quoted(text)} is not a number above 0", f"--{what}=1")
    return int(text)


def memory(text: str, what: str) -> int:
    """Number of MiB in `text`, an amount of memory; an amount without a unit is in MiB. `what`: name of the option, for
    the error message.
    """
    match = _MEMORY.fullmatch(text)
    if match is None:
        raise Wrong(f"--{what}={quoted(text)} is not an amount of memory", f"--{what}=64G")
    amount = int(match[1]) * _MEBI[match[2].upper()]
    if amount <= 0:
        raise Wrong(f"--{what}=0 asks for a whole node", "Write the amount: `physai osmo platforms` lists a node's.")
    return max(round(amount), 1)


def amount(mebibytes: int) -> str:
    """A number of MiB as an amount in OSMO's format.

    >>> amount(65536), amount(1500)
    ('64Gi', '1500Mi')
    """
    return f"{mebibytes // 1024}Gi" if mebibytes % 1024 == 0 else f"{mebibytes}Mi"


def seconds(text: str) -> int:
    """Number of seconds in a time, which is MM, MM:SS, HH:MM:SS, D-HH, D-HH:MM, or D-HH:MM:SS.

    >>> seconds("90"), seconds("1:30:00"), seconds("2-12")
    (5400, 5400, 216000)
    """
    if text.upper() in ("UNLIMITED", "INFINITE") or text in ("0", "-1"):
        raise Wrong(
            f"--time={quoted(text)} sets no limit, which OSMO's pools don't allow", "Write a limit: --time=1-00:00:00"
        )
    match = _TIME.fullmatch(text)
    if match is None:
        raise Wrong(f"--time={quoted(text)} is not a time", "Write D-HH:MM:SS, HH:MM:SS or minutes.")
    days, first, second, third = (int(part) if part is not None else None for part in match.groups())
    assert first is not None  # the pattern's only required group
    if days is not None:
        found = days * 86400 + first * 3600 + (second or 0) * 60 + (third or 0)
    elif third is not None:
        found = first * 3600 + (second or 0) * 60 + third
    else:
        found = first * 60 + (second or 0)
    if found == 0:
        raise Wrong(
            f"--time={quoted(text)} sets no limit, which OSMO's pools don't allow", "Write a limit: --time=1-00:00:00"
        )
    return found


def duration(found: int) -> str:
    """A number of seconds as text, in the largest unit in which it is whole.

    >>> duration(5400), duration(86400), duration(61)
    ('90m', '1d', '61s')
    """
    unit, size = next(item for item in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)) if found % item[1] == 0)
    return f"{found // size}{unit}"


def gpus(text: str, what: str) -> tuple[str, int]:
    """Type and number of GPUs in a text `[type:]number`; the type is empty if the text has none."""
    kind, _, number = text.rpartition(":")
    if "," in text:
        raise Wrong(f"--{what}={quoted(text)} names several types", "Write one type, and a second job for the other.")
    return kind.lower(), count(number, what)


def gres(text: str) -> tuple[str, int]:
    """Type and number of GPUs in `gpu[:type][:number]`."""
    parts = text.split(":")
    if parts[0] in ("shard", "mps"):
        fix = "--partition=PLATFORM: `physai osmo platforms` lists those whose GPUs are shared."
        raise Wrong(f"--gres={quoted(text)} is a share of a GPU, which is a platform of its own", fix)
    if "," in text or parts[0] != "gpu" or "(" in text or len(parts) > 3:
        raise Wrong(
            f"--gres={quoted(text)} is not a number of GPUs, which is all that a task can ask for",
            "--gres=gpu:1, or delete it.",
        )
    if len(parts) == 1:
        return "", 1
    if len(parts) == 2:
        return ("", count(parts[1], "gres")) if parts[1].isdigit() else (parts[1].lower(), 1)
    return parts[1].lower(), count(parts[2], "gres")


def variables(text: str) -> tuple[dict[str, str], bool]:
    """Variables in a value of --export, and True if the variables of the submitting shell are passed on, too."""
    found: dict[str, str] = {}
    inherited = False
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if part in ("ALL", "NONE", "NIL"):
            inherited = inherited or part == "ALL"
        elif not equals:
            raise Wrong(
                f"--export={quoted(part)} takes the value from the shell that calls sbatch, and the file does not"
                " have it",
                f"--export={quoted(part)}=VALUE; a secret belongs to credentials of the task.",
            )
        elif not _VARIABLE.fullmatch(name):
            raise Wrong(f"--export: '{quoted(name)}' is not the name of a variable", "--export=NAME=VALUE")
        else:
            found[name] = value
    return found, inherited


def image(text: str) -> str:
    """Container image reference for an image in Pyxis's format, `REGISTRY#NAME:TAG`."""
    reference = text.removeprefix("docker://")
    if reference.startswith(("/", ".", "~")) or reference.endswith(".sqsh"):
        raise Wrong(f"--container-image={quoted(text)} is a file", "Push the image to a registry, and name it there.")
    return reference.replace("#", "/", 1)
