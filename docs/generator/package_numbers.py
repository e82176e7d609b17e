"""Print the sizes and imports of a checkout: `python -m docs.generator.package_numbers [--tests] [CHECKOUT]`.

With `--tests`, the tests of each optional part are run, one part after the other, and their times are printed too.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from docs.generator.duplicates import duplicates
from docs.generator.markdown import code, table
from docs.generator.packages import ENTRY, Checkout, cycles, reachable, read
from docs.generator.part_templates import FILES
from docs.generator.part_times import TARGET, part_times
from physical_ai.repository import ROOT

DISTRIBUTIONS: Mapping[str, frozenset[str]] = {
    "program": frozenset({"__main__.py", "agents", "components", "parts", "physical_ai"}),
    "workbench": frozenset({"workbench"}),
    "simulator": frozenset({"simulator"}),
    "pages": frozenset({"docs"}),
}
"""Folders and modules at the top, by the distribution that they belong to."""
SMALL = 60
"""Lines below which a module with one importer might as well be a part of that importer."""
CORE = ("components/", "physical_ai/planning/")
"""Folders that a reader of the program looks for first: the components, and the values and objects that they
declare.
"""


def numbers(checkout: Checkout) -> list[tuple[str, str]]:
    """Names and values of all figures that the command prints."""
    modules = [each for each in checkout.modules.values() if each.package]
    longest = max(modules, key=lambda each: each.lines)
    function = max(modules, key=lambda each: each.longest_function)
    return [
        ("folders at the top", str(len(top_folders(checkout.root)))),
        ("packages", str(len(checkout.arrows))),
        ("packages that `pulumi up` imports", str(len(checkout.program))),
        ("arrows between packages", str(sum(map(len, checkout.arrows.values())))),
        ("cycles of packages", str(len(cycles(checkout.floors)))),
        ("cycles of folders", str(len(checkout.folder_cycles()))),
        ("cycles of modules", str(len(checkout.cycles()))),
        ("modules", str(len(modules))),
        ("lines", f"{sum(each.lines for each in modules):,}"),
        ("modules that `pulumi up` imports", "{} with {:,} lines".format(*of_program(checkout))),
        (f"modules under {SMALL} lines with one importer", str(len(small_with_one_importer(checkout)))),
        ("functions with the body of another one", str(sum(map(len, duplicates(checkout))))),
        ("most imports from the program to a module of the core", str(max(ways(checkout).values()))),
        ("files of a new part", f"{len(FILES)} in one folder, and one line in `parts/registry.py`"),
        ("longest module", f"`{longest.path}`, {longest.lines}"),
        ("longest function", f"in `{function.path}`, {function.longest_function}"),
    ]


def top_folders(root: Path) -> list[str]:
    """The folders at the top of a checkout that git tracks, without hidden ones."""
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout.split()
    return sorted({path.split("/")[0] for path in listed if "/" in path and not path.startswith(".")})


def distributions(checkout: Checkout) -> Iterator[tuple[str, str, str]]:
    """Each distribution of the repository with its modules and lines."""
    for name, folders in DISTRIBUTIONS.items():
        own = [each for each in checkout.modules.values() if each.path.partition("/")[0] in folders]
        yield name, str(len(own)), f"{sum(each.lines for each in own):,}"


def of_program(checkout: Checkout) -> tuple[int, int]:
    """Modules and lines that `pulumi up` imports, directly or not."""
    found = reachable(checkout.imports, f"{ENTRY}.py")
    return len(found), sum(checkout.modules[path].lines for path in found)


def steps(checkout: Checkout, target: str) -> list[str]:
    """Modules on a shortest path of imports from the program to a module, both included; empty where there is no
    path.
    """
    return checkout.ways.get(target, [])


def ways(checkout: Checkout) -> dict[str, int]:
    """Number of imports between the program and each module of the core; -1 where there is no way."""
    return {path: len(steps(checkout, path)) - 1 for path in checkout.modules if path.startswith(CORE)}


def distances(checkout: Checkout) -> Iterator[tuple[str, str, str]]:
    """Each number of imports between the program and a core module, with how many modules have that distance, and one
    of them.
    """
    lengths = ways(checkout)
    for number in sorted(set(lengths.values()) - {-1}):
        found = [path for path, own in lengths.items() if own == number]
        yield str(number), str(len(found)), code(found[-1])


def small_with_one_importer(checkout: Checkout) -> list[str]:
    """Modules of less than SMALL lines that one other module imports."""
    importers: dict[str, int] = {}
    for targets in checkout.imports.values():
        for target in targets:
            importers[target] = importers.get(target, 0) + 1
    return [path for path, module in checkout.modules.items() if module.lines < SMALL and importers.get(path) == 1]


def parts(checkout: Checkout) -> Iterator[tuple[str, ...]]:
    """Each optional part: the files in its folder, their lines, the modules outside that import one of them, the files
    of its models in the simulator, and those of its tests.
    """
    for folder in sorted(path for path in (checkout.root / "parts").iterdir() if (path / "part.py").exists()):
        prefix = f"parts/{folder.name}/"
        files = [path for path in folder.iterdir() if path.is_file()]
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
        outside = [
            path
            for path, targets in checkout.imports.items()
            if not path.startswith(prefix) and any(target.startswith(prefix) for target in targets)
        ]
        yield folder.name, str(len(files)), str(lines), str(len(outside)), *map(str, elsewhere(checkout.root, folder))


def elsewhere(root: Path, part: Path) -> tuple[int, int]:
    """Number of files about a part outside of its folder: models in the simulator, and tests."""
    pins = part / "charts.yaml"
    names = re.findall(r"^- name: (\S+)", pins.read_text(encoding="utf-8"), re.MULTILINE) if pins.exists() else []
    models = [root / "simulator" / part.name, *(root / "simulator" / "charts" / "data" / name for name in names)]
    return _files(models), _files([root / "tests" / "unit" / "parts" / part.name])


def _files(folders: Iterable[Path]) -> int:
    return sum(
        path.is_file() and path.suffix != ".pyc" for folder in folders if folder.exists() for path in folder.rglob("*")
    )


def report(checkout: Checkout) -> Iterator[str]:
    yield table(("what", "number"), numbers(checkout))
    yield table(("distribution", "modules", "lines"), distributions(checkout))
    heads = ("part", "files", "lines", "modules outside that import it", "files in the simulator", "files of tests")
    yield table(heads, parts(checkout))
    yield table(("imports from the program", "modules of the core", "such as"), distances(checkout))
    rows = [
        (name, str(checkout.lines(name)), "yes" if name in checkout.program else "", ", ".join(sorted(targets)) or "–")
        for name, targets in sorted(checkout.arrows.items())
    ]
    yield table(("package", "lines", "program", "imports"), rows)
    for kind, found in (("modules", checkout.cycles()), ("folders", checkout.folder_cycles())):
        yield from (f"cycle of {kind}: {', '.join(group)}" for group in found)
    yield from (f"one body: {', '.join(group)}" for group in duplicates(checkout))


def times(root: Path) -> str:
    """Table with the time of the tests of each part, by processor time."""
    names = [path.name for path in sorted((root / "parts").iterdir()) if (path / "part.py").exists()]
    measured = sorted(part_times(root, names), key=lambda each: -each.processor)
    rows = [
        (
            each.part,
            str(each.tests) if each.tests else "failed",
            f"{each.processor:.1f}",
            f"{each.wall:.1f}",
            "yes" if each.processor <= TARGET else "no",
        )
        for each in measured
    ]
    heads = ("part", "tests", "processor s", "wall s", f"at most {TARGET} s of a processor")
    return table(heads, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the packages of a checkout and the imports between them.")
    parser.add_argument("--tests", action="store_true", help="run the tests of each part, and print their times")
    parser.add_argument("checkout", nargs="?", type=Path, default=ROOT)
    given = parser.parse_args()
    print("\n".join(report(read(given.checkout))))
    if given.tests:
        print(times(given.checkout))


if __name__ == "__main__":
    main()
