"""The way of a merged change to one stack: the jobs of .github/workflows/deploy-stack.yaml, and whom each acts as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docs.generator.pictures.mermaid import box, chain, diagram, frame
from physical_ai.repository import ROOT
from physical_ai.safe_yaml import load as load_yaml

FILE = ROOT / ".github" / "workflows" / "deploy-stack.yaml"
IDENTITIES = {
    "preview": ("the reading identity", "Reader, AKS RBAC Reader, its own state"),
    "up": ("the deploying identity", "Contributor, may assign listed roles, its own state"),
}
"""Identity of each job, and what it may reach."""


def delivery() -> str:
    """Flow chart of the jobs and their steps, with the reviewers between them."""
    jobs: dict[str, Any] = load_yaml(FILE.read_text(encoding="utf-8"))["jobs"]
    steps = {job: [each["name"] for each in jobs[job]["steps"] if _is_always_run(each)] for job in IDENTITIES}
    lines = [
        box("merged", "a change is merged to main"),
        box("reviewers", "reviewers of the environment read the preview"),
    ]
    for job, (who, rights) in IDENTITIES.items():
        boxes = {f"{job}_login": box(f"{job}_login", f"log in as {who}", rights)}
        boxes |= {f"{job}{number}": box(f"{job}{number}", step) for number, step in enumerate(steps[job])}
        lines += frame(f"job {job}", [*boxes.values(), chain(boxes)])
    lines.append(chain(["merged", "job preview", "reviewers", "job up"]))
    described = f"{'; '.join(steps['preview'])}. Then reviewers agree. Then: {'; '.join(steps['up'])}."
    return diagram("flowchart TD", "From a merged change to a stack", described, lines)


def _is_always_run(step: Mapping[str, Any]) -> bool:
    """True for a step that has a name and does not depend on the kind of runner."""
    return "name" in step and "if" not in step
