"""Deletions and replacements in a preview: `removals.py FILE` prints them for $GITHUB_OUTPUT, as `removals=[…]`.

With `--within JSON` it fails instead if FILE removes what that list does not have. A deployment runs hours after its
preview was approved; what was not approved then is not lost. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

REMOVING = ("delete", "replace", "delete-replaced", "create-replacement")


class Unreadable(Exception):
    """A file that is not what `pulumi preview --json` prints."""


def removals(preview: Path) -> list[str]:
    """URNs of resources that the output of `pulumi preview --json` deletes or replaces, sorted.

    Raises Unreadable for any other output: what cannot be read may remove anything.
    """
    try:
        steps = json.loads(preview.read_text())["steps"]
        return sorted({step["urn"] for step in steps if step["op"] in REMOVING})
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as problem:
        raise Unreadable(f"{preview.name} is no preview: {type(problem).__name__}: {problem}") from None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preview", type=Path)
    parser.add_argument("--within", type=json.loads)
    options = parser.parse_args()
    try:
        found = removals(options.preview)
    except Unreadable as problem:
        print(f"::error::{' '.join(str(problem).split())}. Nothing was deployed.", file=sys.stderr)
        return 1
    if options.within is None:
        print(f"removals={json.dumps(found)}")
        return 0
    more = [urn for urn in found if urn not in options.within]
    for urn in more:
        print(f"::error::{urn} would be deleted or replaced, which the approved preview does not show")
    if more:
        print("Nothing was deployed. Start the workflow again: its preview shows the present plan.", file=sys.stderr)
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
