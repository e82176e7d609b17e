"""The diagram of docs/architecture.md: the packages of this repository and the imports between them."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.markdown import marked_part
from docs.generator.packages import ENTRY, TOGETHER, Checkout, cycles, implied, read
from physical_ai.repository import DOCS, ROOT

FILE = DOCS / "architecture.md"
BEGIN = "<!-- from the imports of the code: python -m docs.generator -->"
PROGRAM = "What pulumi up imports"
REST = "Workbench, simulator, agents"


def renewed() -> str:
    """Text of the page with the current diagram. Raises ValueError where the page does not contain its marks."""
    return marked_part(FILE, BEGIN, f"```mermaid\n{diagram(read(ROOT))}```\n")


def diagram(checkout: Checkout) -> str:
    """The packages of a checkout, and the imports between them, in Mermaid's notation.

    An import that others imply is left out.

    Raises:
        ValueError: Packages import each other.
    """
    if found := cycles(checkout.floors):
        raise ValueError(f"packages import each other: {found}")
    return "".join(f"{line}\n" for line in _lines(checkout))


def _lines(checkout: Checkout) -> Iterator[str]:
    names = sorted(checkout.floors)
    yield "flowchart LR"
    yield "    accTitle: The packages, and which of them import others"
    yield "    accDescr: An arrow leads from a package to one that it imports. Arrows that others imply are left out."
    for title, in_program in ((PROGRAM, True), (REST, False)):
        yield f'    subgraph {"program" if in_program else "rest"}["{title}"]'
        yield from (
            f'        {_id(each)}["{label(each)}"]' for each in names if (each in checkout.program) == in_program
        )
        yield "    end"
    follows = implied(checkout.floors)
    for source in names:
        targets = [each for each in sorted(checkout.floors[source]) if (source, each) not in follows]
        if targets:
            yield f"    {_id(source)} --> {' & '.join(map(_id, targets))}"


def _id(package: str) -> str:
    return package.replace(" ", "_")


def label(package: str) -> str:
    """Name of a package in the diagram."""
    others = [each for each, other in TOGETHER.items() if other == package]
    if others:
        return ", ".join((package, *others))
    return f"{package}.py" if package == ENTRY else package
