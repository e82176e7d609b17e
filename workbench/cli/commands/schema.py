"""The `schema` command: JSON schemas of stack and layer files, for editors."""

from __future__ import annotations

from workbench.cli.console import err, print_foreign_json
from workbench.cli.options import Json


def schema(json: Json = False) -> None:
    """Write the JSON schemas of stack and layer files, which editors use to complete and check them.

    With --json, print both and write nothing.
    """
    from physical_ai.settings import STACKS
    from physical_ai.settings.json_schema import layer_schema, schema_files, stack_schema
    from physical_ai.settings.layers.stack_file import require_project

    if json:
        print_foreign_json({"stack": stack_schema(), "layer": layer_schema()})
        return
    require_project()
    for path, text in schema_files().items():
        file = STACKS / path
        file.parent.mkdir(exist_ok=True)
        changed = not file.is_file() or file.read_text(encoding="utf-8") != text
        if changed:
            file.write_text(text, encoding="utf-8")
        err.print(f"{STACKS.name}/{path}: {'written' if changed else 'unchanged'}", markup=False)
