"""Skeleton of an optional part with one chart: `make part NAME=fluent_bit`.

It writes eight files into `parts/NAME/`. Text between ‹ and › is left to be written; `physai` names each such line as a
fault once the part is listed, and this command does before. It changes no file that exists.
"""

from __future__ import annotations

import argparse
import datetime
import keyword
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic.alias_generators import to_camel, to_pascal

from docs.generator.part_templates import FILES
from physical_ai.input_errors import without_traceback
from physical_ai.repository import PARTS, ROOT

with without_traceback(SystemExit):  # these import the modules of all parts
    from physical_ai.planning.part_files import REGISTRY, TO_BE_WRITTEN, open_lines, part_faults

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
CHART = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
VERSION = re.compile(r"v?\d+\.\d+\.\d+")


def files(name: str, chart: str, version: str, date: datetime.date) -> dict[str, str]:
    """Content of each file of a new part, by path."""
    words = {
        "NAME": name,
        "CHART": chart,
        "VERSION": version,
        "DATE": date.isoformat(),
        "CLASS": to_pascal(name),
        "KEY": to_camel(name),
        "SETTING": f"parts.{to_camel(name)}",
        "DASHED": name.replace("_", "-"),
    }

    def filled(text: str) -> str:
        return re.sub(r"@([A-Z]+)@", lambda found: words[found[1]], text)

    return {filled(file): filled(text) for file, text in FILES.items()}


def input_problem(name: str, version: str) -> str | None:
    """Reason to refuse a name or a version, with what to write; None where both can be used."""
    if keyword.iskeyword(name) or (PARTS / f"{name}.py").exists():
        return f"NAME={name} is a word of Python or a module of parts/: write another, such as {name}_part."
    if VERSION.fullmatch(version) is None:
        return f"VERSION={version} is not the version of a release: write three numbers, such as 1.2.3 or v1.2.3."
    return None


def next_steps(name: str, root: Path = ROOT) -> Iterator[str]:
    """Open steps for a new part, a line each."""
    if f'"{name}"' not in (root / REGISTRY).read_text():
        yield f'{REGISTRY}: NAMES: write "{name}", at its place in the order of declaration'
    for file, number, key, text in open_lines(root / "parts" / name):
        yield f"parts/{name}/{file}:{number}: {key}: {text}"
    if root == ROOT:
        yield from _faults(name)
    yield "make docs-reference; python -m tests.golden.regenerate"
    yield f"physai policy dev-westus2 --set 'parts={{{to_camel(name)}: {{}}}}'"


def _faults(name: str) -> Iterator[str]:
    """Faults of the part beside the texts that are still to be written, on one line each."""
    for fault in part_faults():
        if fault.file.startswith(f"parts/{name}/") and fault.problem != TO_BE_WRITTEN:
            yield " ".join(str(fault).split())


def main() -> int:
    parser = argparse.ArgumentParser(prog="make part NAME=…", description="Write the skeleton of an optional part.")
    parser.add_argument("name", help="name of the folder, as a Python module: fluent_bit")
    parser.add_argument("--chart", default="", help="name of the Helm chart; by default the part's name with dashes")
    parser.add_argument("--version", default="", help="version of the chart to pin, for a new part")
    given = parser.parse_args()
    chart = given.chart or given.name.replace("_", "-")
    if not NAME.fullmatch(given.name) or not CHART.fullmatch(chart):
        print(
            f"NAME={given.name} CHART={chart}: write a name like fluent_bit, and a chart like fluent-bit.",
            file=sys.stderr,
        )
        return 2
    folder = PARTS / given.name
    if folder.exists() and given.version:
        print(
            f"parts/{given.name}/ is there already: VERSION is for a new part; charts.yaml has its pin.",
            file=sys.stderr,
        )
        return 2
    if not folder.exists() and (problem := input_problem(given.name, given.version)):
        print(problem, file=sys.stderr)
        return 2
    if not folder.exists():
        folder.mkdir()
        for file, text in files(given.name, chart, given.version, datetime.date.today()).items():
            (folder / file).write_text(text)
        print(f"parts/{given.name}/: {len(FILES)} files written")
    print("Next:")
    for step in next_steps(given.name):
        print(f"  {step}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
