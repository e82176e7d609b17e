"""Refuses a tag whose signature GitHub has not verified: `signed_tag.py v1.2.3`. Standard library only.

Who may push tags v* is decided by a ruleset of the repository; the signature shows that one of them made this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


class NotSigned(Exception):
    """Raised if a tag has no verified signature; the text says why."""


def asked(path: str) -> Any:
    """Answer of GitHub's API about this repository. Raises NotSigned if there is none."""
    command = ["gh", "api", f"repos/{os.environ['GITHUB_REPOSITORY']}/{path}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NotSigned(f"GitHub could not be asked: {problem}") from None
    if done.returncode:
        raise NotSigned(f"GitHub refused the question: {done.stderr.strip()}")
    try:
        return json.loads(done.stdout)
    except (ValueError, RecursionError):
        raise NotSigned(f"GitHub's answer is no JSON: {done.stdout[:100]!r}") from None


def require_signature(tag: str) -> str:
    """Name of who made the tag. Raises NotSigned unless the tag is an object of its own with a verified signature."""
    try:
        found = asked(f"git/ref/tags/{tag}")["object"]
        if found["type"] != "tag":
            raise NotSigned("it is a name for a commit, without an author: make it with git tag --sign")
        described = asked(f"git/tags/{found['sha']}")
        verification = described["verification"]
        if verification["verified"] is not True:
            raise NotSigned(f"its signature is not verified: {verification['reason']}")
        return str(described["tagger"]["name"])
    except (LookupError, TypeError) as problem:
        raise NotSigned(f"GitHub's answer has another form: {problem!r}") from None


def main() -> int:
    (tag,) = sys.argv[1:]
    try:
        author = require_signature(tag)
    except NotSigned as problem:
        print(f"::error::{tag} is not released: {' '.join(str(problem).split())}")
        return 1
    print(f"{tag} was signed by {author}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
