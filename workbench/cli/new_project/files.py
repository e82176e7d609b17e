"""Files of a new project of a team, by path."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from physical_ai import safe_yaml
from physical_ai.repository import INSTALLED, INSTALLED_STACKS, PROJECT_FILE
from workbench.cli.new_project.pins import requirements, requirements_for_tests, version

TEMPLATES = Path(__file__).parent / "templates"
COPIED = {
    "Makefile": "Makefile",
    "README.md": "README.md",
    "__main__.py": "main.txt",
    ".gitignore": "gitignore.txt",
    "stacks/layers/base.yaml": "base_layer.txt",
    "values/gpu-operator/values.yaml": "values.txt",
    "parts/parts.yaml": "parts.txt",
    "tests/test_stacks.py": "stacks_test.txt",
}
"""Names of templates, by the path of the project's file that is made from the template."""
SAMPLE = Path(__file__).parents[2] / "osmo" / "samples" / "train-and-evaluate.yaml"
PLATFORM_STACK = "dev-westus2"
"""Stack whose file the platform provides. The stack begins with one node in each GPU pool."""
ORGANISATION = "your-organisation"
"""Placeholder in the addresses of the platform's repository."""
SOURCE = f"{ORGANISATION}/physical-ai"
OWNERS = f"@{ORGANISATION}/platform-team"
CALLED: dict[str, tuple[str, dict[str, Any]]] = {
    "pull-request.yaml": (
        "Checks every pull request, from forks too, without a secret or a way to Azure, and shows what it changes.",
        {
            "name": "pull request",
            "on": {"pull_request": None},
            "permissions": {},
            "jobs": {"checks": {"permissions": {"contents": "read"}, "uses": "team-pull-request.yaml"}},
        },
    ),
    "pull-request-comment.yaml": (
        "Writes the preview of a pull request as a comment on it. It runs nothing of the pull request's.",
        {
            "name": "pull request comment",
            "on": {"workflow_run": {"workflows": ["pull request"], "types": ["completed"]}},
            "permissions": {},
            "jobs": {
                "comment": {
                    "permissions": {"actions": "read", "pull-requests": "write"},
                    "uses": "pull-request-comment.yaml",
                }
            },
        },
    ),
    "deploy.yaml": (
        "Deploys what was merged to dev, then staging, then prod, once the repository's variable DEPLOY is true.",
        {
            "name": "deploy",
            "on": {
                "push": {"branches": ["main"], "paths-ignore": ["**.md", "tests/**", "workflows/**"]},
                "workflow_dispatch": {
                    "inputs": {
                        "gates": {
                            "description": "report does not fail on closed gates, so that what is no longer declared "
                            "is deleted",
                            "type": "choice",
                            "options": ["wait", "report"],
                        }
                    }
                },
            },
            "permissions": {},
            "concurrency": {"group": "deploy", "cancel-in-progress": False},
            "jobs": {
                "deploy": {
                    "permissions": {"contents": "read", "id-token": "write", "actions": "read"},
                    "uses": "team-deploy.yaml",
                    "with": {"gates": "${{ inputs.gates || 'wait' }}"},
                }
            },
        },
    ),
    "drift.yaml": (
        "Compares Azure with the program every night, and keeps one issue about the differences.",
        {
            "name": "drift",
            "on": {"schedule": [{"cron": "17 4 * * *"}], "workflow_dispatch": None},
            "permissions": {},
            "concurrency": {"group": "drift", "cancel-in-progress": True},
            "jobs": {
                "drift": {
                    "permissions": {"contents": "read", "id-token": "write", "actions": "read", "issues": "write"},
                    "uses": "team-drift.yaml",
                }
            },
        },
    ),
}
"""GitHub workflows of a new project, by file name: first line and content of each. `uses` names one of the platform's
workflows.
"""


def project_files(stack: str, hashes: Mapping[str, str], source: str = SOURCE, owners: str = OWNERS) -> dict[str, str]:
    """Texts of the files of a new project, by path.

    Raises SettingsError if the stack's name is invalid, or its environment or region is unknown.

    Args:
        stack: Name of the project's first stack.
        hashes: SHA-256 of the platform's wheels, by distribution.
        source: Platform's repository on GitHub, as owner/name. The project's workflows call the workflows there.
        owners: Team on GitHub that reviews changes.
    """
    words = {"@VERSION@": version(), "@STACK@": stack, "@SOURCE@": f"https://github.com/{source}"}
    words["STACK ?= dev-westus2"] = f"STACK ?= {stack}"
    texts = {path: _worded((TEMPLATES / file).read_text(encoding="utf-8"), words) for path, file in COPIED.items()}
    texts[PROJECT_FILE] = (INSTALLED / PROJECT_FILE).read_text(encoding="utf-8")
    texts["requirements.txt"] = requirements(hashes)
    texts["requirements-dev.txt"] = requirements_for_tests()
    texts[f"workflows/{SAMPLE.name}"] = SAMPLE.read_text(encoding="utf-8")
    texts[".github/CODEOWNERS"] = f"# Whoever has to review a change. Replace the team by your own.\n* {owners}\n"
    for name, (head, document) in CALLED.items():
        texts[f".github/workflows/{name}"] = f"# {head}\n{_calling(document, source)}"
    return {**texts, **_stack_files(stack, texts[PROJECT_FILE])}


def _worded(text: str, words: Mapping[str, str]) -> str:
    for old, new in words.items():
        text = text.replace(old, new)
    return text


def _calling(document: Mapping[str, Any], source: str) -> str:
    jobs = {
        name: {**job, "uses": f"{source}/.github/workflows/{job['uses']}@v{version()}"}
        for name, job in document["jobs"].items()
    }
    return safe_yaml.dump({**document, "jobs": jobs})


def _stack_files(stack: str, project: str) -> dict[str, str]:
    """Texts of the project's stack files and layers, by path, and of the JSON schemas for editors. The layer of the
    first stack's region is left out if the platform has it.
    """
    from physical_ai.settings.json_schema import schema_files
    from physical_ai.settings.new_stack import new_files, propose, verified
    from workbench.cli.stack_new.answers import Choices

    texts = {f"stacks/{path}": text for path, text in schema_files().items()}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "stacks"
        root.mkdir()
        (Path(folder) / PROJECT_FILE).write_text(project, encoding="utf-8")
        if stack == PLATFORM_STACK:
            shutil.copy(INSTALLED_STACKS / f"Pulumi.{stack}.yaml", root)
            own = {Path(f"Pulumi.{stack}.yaml"): (root / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")}
        else:
            proposal = propose(stack, root)
            options = Choices(proposal, [], [], [], None, [])
            choices = {pool.name: options.choice(pool, interactive=False) for pool in proposal.pools}
            files = new_files(
                proposal, choices, options.space(interactive=False), options.ranges(interactive=False), []
            )
            verified(stack, files, root)
            own = dict(files.texts)
    return {**texts, **{f"stacks/{path}": text for path, text in own.items()}}
