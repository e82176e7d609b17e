"""Checksums of release files that no file of this repository pins: the publisher's own, recorded at the first download.

A later download of the same file must have the recorded checksum, whatever its publisher says then.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

from simulator.tools.families import locked
from simulator.tools.transfer import NoRelease, text_of

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


class Record:
    """File with the checksums of downloaded files: a JSON object from URLs to `sha256`, `published` and `date`."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def checksum(self, url: str, published: str) -> str:
        """The checksum that the file at `url` must have: the recorded one, or if there is none the publisher's.

        Raises:
            NoRelease: the publisher's list cannot be read, lacks the file, or differs from the recorded checksum.
        """
        known = self._rows().get(url)
        try:
            found = checksum_in(text_of(published), url, published)
        except NoRelease:
            if known is None:
                raise
            return known["sha256"]
        if known is not None and known["sha256"] != found:
            raise NoRelease(
                f"{published} has the SHA-256 {found}; {self.file} has {known['sha256']} since {known['date']}. A"
                " publisher does not change a release: find out why"
            )
        return found

    def add(self, verified: Mapping[str, tuple[str, str]]) -> bool:
        """Records the checksums of files that have been verified; True if one of them is new.

        Args:
            verified: URL → checksum, and address of the publisher's.
        """
        if not verified:
            return False
        with locked(self.file.with_suffix(".lock")):
            rows = self._rows()
            new = {
                url: {"sha256": sha256, "published": published, "date": f"{datetime.datetime.now(datetime.UTC).date()}"}
                for url, (sha256, published) in verified.items()
                if url not in rows
            }
            if new:
                written = self.file.with_suffix(".new")
                written.write_text(json.dumps({**rows, **new}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
                os.replace(written, self.file)
        return bool(new)

    def _rows(self) -> dict[str, dict[str, str]]:
        """Recorded checksums by URL.

        Raises:
            NoRelease: the file is damaged. It is not ignored, because a download would then trust another checksum.
        """
        try:
            rows = json.loads(self.file.read_text(encoding="utf-8"))
            return {url: {key: str(row[key]) for key in ("sha256", "published", "date")} for url, row in rows.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NoRelease(f"{self.file} is damaged; delete it to trust the publishers' checksums again") from None


def checksum_in(text: str, url: str, published: str) -> str:
    """The checksum of the file at `url` in a publisher's text: a checksum alone, or lines with a checksum and a name.

    >>> checksum_in("a" * 64 + "  tool.tar.gz", "https://example.com/tool.tar.gz", "") == "a" * 64
    True

    Raises:
        NoRelease: the text has none, as if a proxy has answered with a page.
    """
    name = Path(urllib.parse.urlsplit(url).path).name
    rows = [line.split() for line in text.splitlines() if line.strip()]
    if len(rows) == 1 and len(rows[0]) == 1 and _SHA256.fullmatch(rows[0][0]):
        return rows[0][0].lower()
    named = [row[0] for row in rows if len(row) == 2 and row[1].lstrip("*./") == name]
    if len(named) == 1 and _SHA256.fullmatch(named[0]):
        return named[0].lower()
    raise NoRelease(f"{published} has no SHA-256 of {name}; it begins with {' '.join(text[:60].split())!r}")
