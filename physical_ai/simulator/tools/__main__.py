"""`python -m physical_ai.simulator.tools`: `physai tools` for a Python that has no packages yet."""

from __future__ import annotations

import argparse
import sys

from physical_ai.repository import user_folder
from physical_ai.simulator.tools.families import BuildFailed
from physical_ai.simulator.tools.install import Origin, toolbox
from physical_ai.simulator.tools.reporting import ToolLines


def main() -> None:
    parser = argparse.ArgumentParser(description="Install the engine and control-plane programs.")
    parser.add_argument("--from", dest="origin", type=Origin, choices=list(Origin), help="$PHYSAI_TOOLS_FROM or auto")
    lines = ToolLines(lambda line: print(line, file=sys.stderr, flush=True), regular=True)
    try:
        toolbox(user_folder() / "tools", lines.report, origin=parser.parse_args().origin)
    except BuildFailed as problem:
        sys.exit(f"error: {problem}")


if __name__ == "__main__":
    main()
