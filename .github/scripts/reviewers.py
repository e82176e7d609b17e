"""Refuses production where nobody has to approve it: `reviewers.py ENVIRONMENT` asks GitHub who reviews its jobs.

Without required reviewers a job of the environment starts at once, and nobody has read the preview. Private
repositories have required reviewers with GitHub Enterprise only; a repository that accepts to deploy without them sets
the variable PROD_WITHOUT_REVIEWERS=true. Standard library only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

ACCEPTED = "WITHOUT_REVIEWERS"


class NoAnswer(Exception):
    """GitHub did not say who reviews; the text says why."""


def environment(name: str) -> Any:
    """The environment as GitHub describes it. Raises NoAnswer."""
    command = ["gh", "api", f"repos/{os.environ['GITHUB_REPOSITORY']}/environments/{name}"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NoAnswer(str(problem)) from None
    if asked.returncode:
        raise NoAnswer(asked.stderr.strip())
    try:
        return json.loads(asked.stdout)
    except (ValueError, RecursionError):
        raise NoAnswer(f"it is no JSON: {asked.stdout[:100]!r}") from None


def reviewers(answer: Any) -> int:
    """Number of users and teams who may approve. Raises NoAnswer for an answer of another form."""
    try:
        rules = answer["protection_rules"]
        found = [rule["reviewers"] for rule in rules if rule["type"] == "required_reviewers"]
        return sum(len(list(each)) for each in found)
    except (LookupError, TypeError) as problem:
        raise NoAnswer(f"it has another form: {problem!r}") from None


def main() -> int:
    (name,) = sys.argv[1:]
    try:
        count = reviewers(environment(name))
    except NoAnswer as problem:
        print(
            f"::error::GitHub did not say who reviews {name}, so it is not deployed: {' '.join(str(problem).split())}"
        )
        return 1
    if count:
        print(f"{count} reviewers may approve {name}.")
        return 0
    place = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{os.environ['GITHUB_REPOSITORY']}/settings"
    if os.environ.get(ACCEPTED) == "true":
        print(f"::warning::{name} is deployed without an approval, as PROD_WITHOUT_REVIEWERS=true accepts.")
        return 0
    print(
        f"::error::The environment {name} has no required reviewers, so nobody approves what is deployed to it. "
        f"Add them: {place}/environments. A private repository has them with GitHub Enterprise only (docs/delivery.md)."
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
