"""The comment on a pull request that changes one stack, as a whole command, and which processes take its time.

The checkout's last commit is cloned, a node more is allowed in the stack, and `physai pr-preview` compares the two.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from measure import DEFAULT_STACK, place, table, timed
from shares import measured, print_shares

from physical_ai import safe_yaml
from physical_ai.repository import ROOT
from simulator.home import HOME_VARIABLE

GOAL = 30.0
"""Seconds for each stack, on two processors without other work."""
AUTHOR = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stack", default=DEFAULT_STACK)
    stack = parser.parse_args().stack
    with place(stack) as here:
        checkout = here.home.folder / "checkout"
        _git(ROOT, "clone", "--quiet", "--no-hardlinks", ".", str(checkout))
        _change(checkout / "stacks" / f"Pulumi.{stack}.yaml")
        _git(checkout, *AUTHOR, "commit", "--quiet", "--all", "--message", "Allow more nodes")
        with measured(here.home.folder) as shares:
            seconds = timed(lambda: _preview(checkout, here.home.folder))
    found = shares.by_name()
    load = os.getloadavg()[0]
    table(
        f"pull request, load {load:.1f}",
        ("", "seconds", "processor", "goal"),
        [[stack, seconds, sum(found.values()), GOAL]],
    )
    print_shares("pull request", [found])


def _change(file: Path) -> None:
    text = safe_yaml.load(file.read_text())
    pools = text["config"]["physical-ai:pools"]
    name = next(iter(pools))
    pools[name]["scale"] = {**pools[name].get("scale", {}), "max": 9}
    file.write_text(safe_yaml.dump(text))


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)


def _preview(checkout: Path, home: Path) -> None:
    """Its temporary folders, with the homes of both sides, are below the home whose processes are measured."""
    own = {HOME_VARIABLE: str(home), "TMPDIR": str(home), "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-m", "workbench.cli", "pr-preview", "--base", "HEAD~1"]
    subprocess.run(command, cwd=checkout, env={**os.environ, **own}, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
