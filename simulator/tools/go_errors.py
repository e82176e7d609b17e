"""Reasons for which the `go` command failed, as sentences: a module that its proxy lacks or has changed, the disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from simulator.tools.disk import NEEDED

LAST_LINES = 8
"""Number of lines that are quoted if the reason is not known."""
_PROXY = (
    "Name a Go module proxy that has every module with GOPROXY, or make the tools' publishers reachable, and run the"
    " command again, which continues."
)
_CHANGED = "A proxy does not change a module: find out why, or name another one with GOPROXY."
_FOLDERS = "Name folders of your own with GOMODCACHE and GOCACHE, and run the command again."
_FETCHED = re.compile(
    r'(?P<module>[^\s"]+@v[^\s:]+): (?:reading|read|Get) "?(?P<url>\w+://[^\s"]+?)"?: (?P<why>[^"\\\n]+)', re.MULTILINE
)
_CHECKSUM = re.compile(r"^(?:go: )?verifying (?P<module>\S+?)(?:/go\.mod)?: checksum mismatch", re.MULTILINE)
_NO_ZIP = re.compile(r"^(?P<file>\S+\.go):(?P<line>\d+):\d+: zip: ", re.MULTILINE)
_PROXY_SETTING = re.compile(r"(module lookup disabled by GOPROXY=off|invalid proxy URL[^\n]*)")
_DISK = re.compile(r"(?P<place>/[^\s:]+): (?P<why>no space left on device|permission denied|read-only file system)")
_NO_FOLDER = re.compile(r"(module cache not found|build cache is required)[^\n]*")
_PACKAGE = re.compile(r"[A-Za-z0-9._~/-]+")


def explanation(lines: Sequence[str], log: Path) -> str:
    """The reason for a failure and what to do, from what `go` printed; its last lines if the reason is not known.

    `log`: file with all that it printed.
    """
    known = _known("\n".join(lines).replace('\\"', '"'))
    if known is not None:
        problem, fix = known
        return f"{problem}.\n  {fix}\n  Full log: {log}"
    # `go list` prints errors and names of packages as they come.
    told = [line for line in lines if not _PACKAGE.fullmatch(line)] or list(lines)
    quoted = "\n".join(f"  {line}" for line in told[-LAST_LINES:])
    return f"it says\n{quoted}\n  Full log: {log}\n  Run the command again to continue; {NEEDED}."


def _known(text: str) -> tuple[str, str] | None:
    """A known reason, and what to do about it."""
    for pattern, told, fix in _REASONS:
        if found := list(pattern.finditer(text)):
            return told(found), fix
    return None


def _of_disk(found: Sequence[re.Match[str]]) -> str:
    space = f": {NEEDED}" if found[0]["why"].startswith("no space") else ""
    return f"{found[0]['place']}: {found[0]['why']}{space}"


def _of_fetches(found: Sequence[re.Match[str]]) -> str:
    by_module = {each["module"]: each for each in reversed(found)}
    why, others = found[0]["why"], len(by_module) - 1
    answer = f" answered {why}" if why[0].isdigit() else f": {why}"
    more = f"; and {others} other module{'s' if others > 1 else ''}" if others else ""
    return f"{found[0]['module']} could not be downloaded: {found[0]['url']}{answer}{more}"


def _of_zip(found: Sequence[re.Match[str]]) -> str:
    imported = _imported(Path(found[0]["file"]), int(found[0]["line"]))
    return f"what the Go module proxy sent as the module of {imported} is no archive"


def _imported(file: Path, line: int) -> str:
    """Package that a Go file imports in a line; the file and the line if it cannot be read."""
    try:
        text = file.read_text(encoding="utf-8").splitlines()[line - 1]
    except (OSError, ValueError, IndexError):
        text = ""
    found = re.search(r'"(.+)"', text)
    return found[1] if found else f"{file}:{line}"


_REASONS: tuple[tuple[re.Pattern[str], Callable[[Sequence[re.Match[str]]], str], str], ...] = (
    (_DISK, _of_disk, _FOLDERS),
    (_NO_FOLDER, lambda found: found[0][0], _FOLDERS),
    (
        _CHECKSUM,
        lambda found: f"the Go module proxy sent another {found[0]['module']} than the one that go.sum pins",
        _CHANGED,
    ),
    (_FETCHED, _of_fetches, _PROXY),
    (_NO_ZIP, _of_zip, _PROXY),
    (_PROXY_SETTING, lambda found: f"the variable GOPROXY is of no use: {found[0][1]}", _PROXY),
)
"""Patterns of what `go` prints, the sentence about it, and what to do. The first one that is found counts."""
