"""Workflows that a team's repository calls to deploy and to find drift, generated from those of this repository.

GitHub looks for `./.github/actions` of a called workflow in the repository that calls it. So the steps of this
repository's own actions are written into the called workflow, and the scripts are those of the installed platform.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from physical_ai.repository import ROOT

GITHUB = ROOT / ".github"
NAMES = ("deploy", "deploy-stack", "drift")
"""Names of the workflows that have a counterpart for teams."""
SETUP = """\
      - uses: {python}
        with:
          python-version: "3.12"
      - name: The pinned packages, and where the platform's scripts are
        run: |
          make .venv/.ready REQUIREMENTS=requirements.txt
          scripts=$(.venv/bin/python -c 'from physical_ai.repository import SCRIPTS; print(SCRIPTS)')
          echo "SCRIPTS=$scripts" >> "$GITHUB_ENV"
"""
_CALLED = """\
on:
  workflow_call:
    inputs:
      gates:
        description: report does not fail on closed gates, so that what is no longer declared is deleted
        type: string
        default: wait
"""
_HEADS = {
    "deploy": """\
# For a team's repository, whose workflow calls this one: deploys merged changes to dev, then staging, then prod, one
# region after the other. Without the caller's repository variable DEPLOY=true nothing is deployed.""",
    "deploy-stack": """\
# One stack of a team's repository: checks, charts, preview for the reviewers; once they agree, the deployment.""",
    "drift": """\
# For a team's repository, whose workflow calls this one: compares Azure with the program, and keeps one issue about
# the differences.""",
}
_GENERATED = "# Generated from {name}.yaml by python -m docs.generator: change that one."
_ACTION = re.compile(
    r"^      - uses: \./\.github/actions/(?P<name>\w+)\n(?:        with:\n(?:          .*\n)+)?", re.MULTILINE
)
_GIVEN = re.compile(r"^ {10}(?P<name>[\w-]+): (?P<value>.+)$", re.MULTILINE)
_SCRIPT = re.compile(r"(?P<python>(?:python3|\.venv/bin/python)) \.github/scripts/(?P<name>\w+\.py)")


def file(name: str) -> Path:
    """Path of the counterpart of a workflow."""
    return GITHUB / "workflows" / f"team-{name}.yaml"


def document(name: str) -> str:
    """Text of the counterpart of the workflow `name`."""
    text = (GITHUB / "workflows" / f"{name}.yaml").read_text(encoding="utf-8")
    # The comments at the top, and what starts the workflow, are the caller's matter. So is the group of runs: a called
    # workflow in its caller's own group would wait for itself.
    text = text[text.index("\nname: ") + 1 :]
    text = re.sub(r"^concurrency:\n(?:  .*\n)+\n", "", text, flags=re.MULTILINE)
    if name != "deploy-stack":
        called = _CALLED if name == "deploy" else "on:\n  workflow_call:\n"
        text = re.sub(r"^on:\n(?:  .*\n)+", called, text, flags=re.MULTILINE)
    text = re.sub(r"^name: (.*)$", r"name: \1, of a team's repository", text, count=1, flags=re.MULTILINE)
    text = text.replace("./.github/workflows/deploy-stack.yaml", "./.github/workflows/team-deploy-stack.yaml")
    text = _with_setup_for_scripts(_ACTION.sub(_inlined, text))
    text = _SCRIPT.sub(r'\g<python> "$SCRIPTS/\g<name>"', text)
    return f"{_HEADS[name]}\n{_GENERATED.format(name=name)}\n{text}"


def _inlined(found: re.Match[str]) -> str:
    """Steps of one of this repository's own actions, in place of the step that uses it."""
    if found["name"] == "setup":
        return _setup()
    action = (GITHUB / "actions" / found["name"] / "action.yaml").read_text(encoding="utf-8")
    given = {each["name"]: each["value"] for each in _GIVEN.finditer(found[0])}
    steps = action[action.index("  steps:\n") + len("  steps:\n") :]
    steps = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda each: given[each[1]], steps)
    return re.sub(r"^(?=.)", "  ", steps, flags=re.MULTILINE)


def _setup() -> str:
    pinned = re.search(r"actions/setup-python@\S+ # \S+", (GITHUB / "actions" / "setup" / "action.yaml").read_text())
    assert pinned is not None
    return SETUP.format(python=pinned[0])


def _with_setup_for_scripts(text: str) -> str:
    """Adds the set-up to jobs that run a script of the checkout without one."""
    jobs = re.split(r"^(?=  [\w-]+:\n)", text, flags=re.MULTILINE)
    checkout = re.compile(r"      - uses: actions/checkout@.*\n        with:\n          persist-credentials: false\n")
    return "".join(
        checkout.sub(lambda found: found[0] + _setup(), job) if _SCRIPT.search(job) and "SCRIPTS=" not in job else job
        for job in jobs
    )


PAGES = {file(name): partial(document, name) for name in NAMES}
"""The text of each counterpart, by its path."""
