"""Day of a release, written into the change log and into the version's notes."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

from docs.generator.release import changelog
from docs.generator.release.left import NOTHING, notes_file
from docs.generator.release.problems import NotReleasable


def date(root: Path, version: str, day: str) -> list[str]:
    """Makes the entries without a release those of `version`, released on `day`, in the checkout `root`. Returns the
    files that were changed; none if they have this day already.

    Raises NotReleasable if `day` is none, there are no such entries, or the version has no notes. No file is changed.
    """
    try:
        written = datetime.date.fromisoformat(day).isoformat()
    except ValueError:
        raise NotReleasable(f"DAY={day}\n  It is no day.\n  Write it as 2026-12-31.") from None
    notes = root / notes_file(version)
    if not notes.is_file():
        raise NotReleasable(f"{notes_file(version)}\n  The file is missing.\n  Write the notes of {version} first.")
    texts = {root / changelog.FILE: _log(root, version, written), notes: _notes(notes, written)}
    changed = [path for path, text in texts.items() if text != path.read_text(encoding="utf-8")]
    for path in changed:
        path.write_text(texts[path], encoding="utf-8")
    return [path.relative_to(root).as_posix() for path in changed]


def _log(root: Path, version: str, day: str) -> str:
    text = (root / changelog.FILE).read_text(encoding="utf-8")
    heading = f"## {version} - {day}"
    if changelog.has_section(root, version):
        return re.sub(rf"^## \[?{re.escape(version)}\b.*$", heading, text, flags=re.MULTILINE)
    changelog.unreleased(root)
    former = f"## {changelog.UNRELEASED}\n"
    return text.replace(former, f"{former}\n{heading}\n", 1).replace(f" {NOTHING}.", "", 1)


def _notes(file: Path, day: str) -> str:
    text, count = re.subn(r"^date: \S+", f"date: {day}", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if count != 1:
        raise NotReleasable(f"{file}\n  It has {count} lines `date:`.\n  Write one: date: null")
    return text
