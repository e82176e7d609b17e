"""`python -m docs.generator.release`: makes the files of a release locally, or writes its version."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from docs.generator.release.dating import date
from docs.generator.release.problems import NotReleasable
from docs.generator.release.version import require_number, write
from physical_ai.repository import ROOT


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make release", description="Make the files of a release; publish nothing.")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder of the files")
    parser.add_argument("--tag", default="", help="tag of the commit, if it has been made: v1.2.3")
    parser.add_argument("--version", metavar="VERSION", help="write this version into all its places, and end")
    parser.add_argument("--day", metavar="DAY", help="with --version: the day of the release, into log and notes")
    given = parser.parse_args(words)
    try:
        if given.version is not None:
            require_number(given.version)
            # The day first: of the two only this can be refused, and then no file is changed.
            dated = date(ROOT, given.version, given.day) if given.day is not None else []
            changed = write(ROOT, given.version) + dated
            print("\n".join(changed) if changed else f"The version is {given.version} already.")
            print("Next: git diff, a commit, and make release, which says what is left")
            return 0
        for line in rehearsed(given.output, given.tag):
            print(line)
    except NotReleasable as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    return 0


def rehearsed(folder: Path, tag: str) -> Iterator[str]:
    """Lines about the files of a release after they were made: a table, and what is left, or the next command."""
    from docs.generator.release.rehearsal import digest, rehearse  # slow, and not needed to write a version

    print("building: about half a minute", file=sys.stderr, flush=True)
    made = rehearse(ROOT, folder, tag=tag)
    width = max(len(file.name) for file in made.files)
    yield f"{'file':<{width}} {'bytes':>9} sha256"
    for file in made.files:
        yield f"{file.name:<{width}} {file.stat().st_size:>9,} {digest(file)}"
    where = os.path.relpath(folder)
    yield f"Version {made.version} of commit {made.commit.sha[:12]}, in {where}. Nothing was published."
    if made.left:
        yield f"Left before {made.version} can be tagged:"
        yield from made.left
    elif not tag:
        yield f"Next: git tag --sign v{made.version} -m v{made.version} && git push origin v{made.version}"


if __name__ == "__main__":
    raise SystemExit(main())
