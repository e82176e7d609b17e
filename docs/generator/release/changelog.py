"""Section of the change log about one version, which becomes the text of its release."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

from docs.generator.release.problems import NotReleasable

FILE = "CHANGELOG.md"
UNRELEASED = "Unreleased"
HEADING = re.compile(r"^## (?P<title>.+?)[ \t]*$", re.MULTILINE)
DATED = re.compile(r"(?P<version>\S+) [-–] (?P<day>\d{4}-\d{2}-\d{2})")


def section(root: Path, version: str) -> str:
    """Text of the change log's section about `version`, without its heading.

    Raises NotReleasable if there is no such section, its heading has no day, or it is empty.
    """
    bodies = _sections(root)
    for title, (line, body) in bodies.items():
        if _version(title) != version:
            continue
        found = DATED.fullmatch(title)
        if found is None or not _is_day(found["day"]):
            fix = f"Write the day of the release: {_heading(version)}"
            raise NotReleasable(f"{FILE}:{line}: ## {title}\n  The heading has no day.\n  {fix}")
        return _filled(f"{FILE}:{line}: ## {title}", body)
    fix = f"Rename ## {UNRELEASED} to {_heading(version)}, and begin a new ## {UNRELEASED} above it."
    raise NotReleasable(f"{FILE}\n  It has no section about {version}.\n  {fix}")


def has_section(root: Path, version: str) -> bool:
    """True if the change log has a section about `version`, with a day or without one."""
    return any(_version(title) == version for title in _sections(root))


def unreleased(root: Path) -> str:
    """Text of the entries that no release has yet. Raises NotReleasable if there are none."""
    line, body = _sections(root).get(UNRELEASED, (1, ""))
    return _filled(f"{FILE}:{line}: ## {UNRELEASED}", body)


def _version(title: str) -> str:
    found = DATED.fullmatch(title)
    return found["version"] if found else title.split(maxsplit=1)[0].strip("[]")


def _sections(root: Path) -> dict[str, tuple[int, str]]:
    """Line and text of each section, by its title."""
    text = (root / FILE).read_text(encoding="utf-8")
    found = list(HEADING.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)]
    return {
        each["title"]: (text.count("\n", 0, each.start()) + 1, text[each.end() : end].strip())
        for each, end in zip(found, ends, strict=True)
    }


def _filled(where: str, body: str) -> str:
    if not any(line and not line.startswith("#") for line in body.splitlines()):
        raise NotReleasable(f"{where}\n  The section has no entry.\n  Write what users notice.")
    return f"{body}\n"


def _is_day(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _heading(version: str) -> str:
    return f"## {version} - YYYY-MM-DD"
