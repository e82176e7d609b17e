"""Print the sizes and imports of a checkout: `python -m docs.generator.package_numbers [CHECKOUT]`."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator
from pathlib import Path

from docs.generator.markdown import table
from docs.generator.package_picture import picture
from docs.generator.packages import Checkout, cycles, read
from physical_ai.repository import ROOT


def numbers(checkout: Checkout) -> list[tuple[str, str]]:
    """What is counted, and its value."""
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
        ("longest module", f"`{longest.path}`, {longest.lines}"),
        ("longest function", f"in `{function.path}`, {function.longest_function}"),
    ]


def top_folders(root: Path) -> list[str]:
    """The folders at the top of a checkout that git tracks, without hidden ones."""
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout.split()
    return sorted({path.split("/")[0] for path in listed if "/" in path and not path.startswith(".")})


def report(checkout: Checkout) -> Iterator[str]:
    yield table(("what", "number"), numbers(checkout))
    rows = [
        (name, str(checkout.lines(name)), "yes" if name in checkout.program else "", ", ".join(sorted(targets)) or "–")
        for name, targets in sorted(checkout.arrows.items())
    ]
    yield table(("package", "lines", "program", "imports"), rows)
    for kind, found in (("modules", checkout.cycles()), ("folders", checkout.folder_cycles())):
        yield from (f"cycle of {kind}: {', '.join(group)}" for group in found)


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the packages of a checkout and the imports between them.")
    parser.add_argument("checkout", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--picture", type=Path, metavar="FILE.svg", help="draw the packages, with their lines")
    options = parser.parse_args()
    checkout = read(options.checkout)
    print("\n".join(report(checkout)))
    if options.picture:
        options.picture.write_text(picture(checkout, with_lines=True), encoding="utf-8")


if __name__ == "__main__":
    main()
