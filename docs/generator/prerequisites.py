"""The tables of docs/prerequisites.md, generated from the catalogue and from what a stack of each kind needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from docs.generator.markdown import marked_part, or_dash, table
from physical_ai.catalog.prerequisites import plans
from physical_ai.repository import DOCS
from physical_ai.settings import Settings, load
from workbench.cli.declared_needs import declared_of, foreign_to
from workbench.cli.deployment_prerequisites import pinned
from workbench.preflight.declared import ForeignScope
from workbench.preflight.prerequisites import OWN, Prerequisite, not_needed, prerequisites

FILE = DOCS / "prerequisites.md"
BEGIN = "<!-- from physical_ai/catalog/data/prerequisites.yaml and stacks/: python -m docs.generator -->"
STACKS = {
    "quickstart-westus2": "the short way",
    "dev-southeastasia": "a whole platform with logins, public",
    "prod-westeurope": "the same for production, private",
}
"""One example stack of each kind, with a description of the kind."""
SHARED = ("tool", "GitHub")
"""Topics of prerequisites that hold for every stack."""


def renewed() -> str:
    """Text of the page with the current tables. Raises ValueError where the page does not contain their marks."""
    return marked_part(FILE, BEGIN, "\n".join(_tables()))


def _tables() -> Iterator[str]:
    yield "## Tools\n"
    tools = [each for each in _needed(load("quickstart-westus2").settings) if each.topic == "tool"]
    yield table(("tool", "for", "from"), (_row(each)[1:] for each in tools))
    for stack, kind in STACKS.items():
        settings, foreign = load(stack).settings, foreign_to(declared_of(stack), OWN)
        yield f"## `{stack}`: {kind}\n"
        own = [each for each in _needed(settings, foreign) if each.topic not in SHARED]
        yield table(("", "needed", "for", "command or page"), map(_row, own))
        yield _spared(settings)
    yield "## Plans of GitHub, for pipelines only\n"
    yield table(("repository", "plan", "gives"), ((each.repository, each.plan, each.gives) for each in plans()))


def _needed(settings: Settings, foreign: Sequence[ForeignScope] = ()) -> Sequence[Prerequisite]:
    return prerequisites(settings, pinned(), foreign=foreign)


def _row(each: Prerequisite) -> tuple[str, ...]:
    get = each.get or ""
    is_command = get.startswith(("az ", "pulumi ", "for "))
    return each.topic, each.what, each.why, or_dash(f"`{get}`" if is_command else get)


def _spared(settings: Settings) -> str:
    lines = [f"- {each.what}: {each.why}" for each in not_needed(settings)]
    return "Not needed:\n\n" + "\n".join(lines) + "\n"
