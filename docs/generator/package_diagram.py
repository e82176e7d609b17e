"""The diagrams of docs/architecture.md: the packages of this repository and the imports between them."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.markdown import marked_part
from docs.generator.packages import ENTRY, TOGETHER, Checkout, cycles, implied, read
from physical_ai.repository import DOCS, ROOT

FILE = DOCS / "architecture.md"
BEGIN = "<!-- from the imports of the code: python -m docs.generator -->"
PROGRAM = "What `pulumi up` imports:"
REST = "Workbench, simulator and agents. What they import of the packages above is not drawn:"


def renewed() -> str:
    """Text of the page with the current diagrams. Raises ValueError where the page does not contain its marks."""
    checkout = read(ROOT)
    blocks = (
        f"{title}\n\n```mermaid\n{diagram(checkout, program=program)}```\n"
        for title, program in ((PROGRAM, True), (REST, False))
    )
    return marked_part(FILE, BEGIN, "\n".join(blocks))


def diagram(checkout: Checkout, *, program: bool) -> str:
    """The packages of a checkout, and the imports between them, in Mermaid's notation. One picture of all of them would
    be too wide for a telephone.

    An import that others imply is left out.

    Args:
        program: True for the packages that `pulumi up` imports, False for the others.

    Raises:
        ValueError: Packages import each other.
    """
    if found := cycles(checkout.floors):
        raise ValueError(f"packages import each other: {found}")
    return "".join(f"{line}\n" for line in _lines(checkout, program=program))


def _lines(checkout: Checkout, *, program: bool) -> Iterator[str]:
    names = [each for each in sorted(checkout.floors) if (each in checkout.program) == program]
    yield "flowchart TD" if program else "flowchart LR"
    yield f"    accTitle: The packages {'that pulumi up imports' if program else 'beside the program'}"
    yield "    accDescr: An arrow leads from a package to one that it imports. Arrows that others imply are left out."
    yield from (f'    {_id(each)}["{label(each)}"]' for each in names)
    follows = implied(checkout.floors)
    for source in names:
        imported = sorted(checkout.floors[source])
        targets = [each for each in imported if each in names and (source, each) not in follows]
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
