"""docs/reference/outputs.md: the outputs of a stack, and the inputs and outputs of each component."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from components.outputs import OUTPUTS
from docs.generator.markdown import code, codes, table
from parts.registry import PARTS
from physical_ai.repository import ROOT
from physical_ai.settings.layers.paths import show

OF_PART = "the part's own type"
_COMPONENTS = ROOT / "components"
_HEAD = """\
# Outputs and components

Generated from `components/` by `python -m docs.generator`. `pulumi stack output` prints the outputs of a stack on
Azure; `physai status` shows the most important ones in the simulator. None of them is secret. `‹name›` is a name from
the settings.
"""
_ABOUT = """\
## Components

One per file. Each is a Pulumi component resource: a preview lists its resources below it, with the type that is given
here. Inputs are the fields of its arguments. Other components read its outputs.
"""


_PARTS = """\
## Optional parts

In the order of `parts/registry.py`, in which a stack declares them. Each is a `ChartPart`, or a class of its own in its
folder that adds to it. A part without its setting declares nothing.
"""
_PART_COLUMNS = ("part", "what it is", "setting", "charts", "component", "after")


@dataclass(frozen=True)
class _Field:
    name: str
    form: str
    text: str


@dataclass(frozen=True)
class Component:
    """A Pulumi component, as its source file describes it."""

    name: str
    type: str
    file: str
    about: str
    inputs: tuple[_Field, ...]
    outputs: tuple[_Field, ...]


def components() -> list[Component]:
    """All components, sorted by name."""
    found = [each for file in sorted(_COMPONENTS.rglob("*.py")) for each in _components(file)]
    return sorted(found, key=lambda each: each.name)


def _components(file: Path) -> Iterator[Component]:
    classes = {
        node.name: node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)
    }
    for name, node in classes.items():
        if not any(ast.unparse(base) == "pulumi.ComponentResource" for base in node.bases):
            continue
        about, attributes = _docstring(node)
        arguments = classes.get(f"{name}Args")
        outputs = [_Field(each.name, each.form, attributes.get(each.name) or each.text) for each in _fields(node)]
        inputs = tuple(_fields(arguments)) if arguments else ()
        yield Component(name, _type(node), file.relative_to(ROOT).as_posix(), about, inputs, tuple(outputs))


def _fields(node: ast.ClassDef) -> Iterator[_Field]:
    """Annotated attributes, each with its docstring if there is one."""
    for number, line in enumerate(node.body):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            after = node.body[number + 1] if number + 1 < len(node.body) else None
            text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            yield _Field(line.target.id, ast.unparse(line.annotation), " ".join(str(text).split()))


def _docstring(node: ast.ClassDef) -> tuple[str, dict[str, str]]:
    """Description of a class, and of each attribute in its section `Attributes`, from the class's docstring."""
    text, _, section = (ast.get_docstring(node) or "").partition("Attributes:\n")
    attributes: dict[str, str] = {}
    last = ""
    for line in section.splitlines():
        indent = len(line) - len(line.lstrip())
        if indent <= 4 and ":" in line:
            last, _, first = line.strip().partition(": ")
            attributes[last] = first
        elif last:
            attributes[last] += f" {line.strip()}"
    paragraphs = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return "\n\n".join(paragraphs), {key: value.strip() for key, value in attributes.items()}


def _type(node: ast.ClassDef) -> str:
    """Type token of a component: the first argument of its call of `super().__init__`."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "super().__init__":
            token = call.args[0]
            return str(token.value) if isinstance(token, ast.Constant) else OF_PART
    raise ValueError(f"{node.name} does not call super().__init__ with its type")


def document() -> str:
    """Text of the complete page."""
    rows = [(code(path), text) for path, text in OUTPUTS.items()]
    parts = [_HEAD, "## Outputs of a stack\n", table(("output", "what it is"), rows), _ABOUT]
    return "\n".join([*parts, *map(_section, components()), _PARTS, table(_PART_COLUMNS, _parts())])


def _parts() -> Iterator[tuple[str, ...]]:
    for part in PARTS:
        after = ", ".join(code(each) for each in part.needs) or "–"
        yield code(part.name), part.title, code(show(part.setting)), codes(part.charts), code(part.resource_type), after


def _section(component: Component) -> str:
    lines = [f"### {component.name}\n", f"{component.about}\n", f"{code(component.type)}, {code(component.file)}\n"]
    for title, fields in (("input", component.inputs), ("output", component.outputs)):
        if fields:
            rows = [(code(each.name), code(each.form), each.text) for each in fields]
            described = any(each.text for each in fields)
            head = (title, "type", "what it is") if described else (title, "type")
            lines.append(table(head, rows if described else [row[:2] for row in rows]))
    return "\n".join(lines)
