"""How long the program takes for each stack when nothing is deployed: under mocks, in this process, imports done.

It is compared with the same run with the aliases that azure-native gives each resource, one for every API version,
which the simulator and the tests leave out.
"""

from __future__ import annotations

import argparse
from unittest import mock

from measure import note, table, typical

from physical_ai.settings import STACKS, load
from tests.support import recording


def main() -> None:
    options = _options()
    stacks = options.stacks or sorted(file.stem.removeprefix("Pulumi.") for file in STACKS.glob("Pulumi.*.yaml"))
    with mock.patch("pulumi.log.warn"):  # settings that will do for a simulation only; said once is enough
        _measure(stacks, options.times)


def _measure(stacks: list[str], times: int) -> None:
    recording.record(stacks[0])  # imports the SDKs, which a benchmark of the program is not about
    rows: list[list[object]] = []
    for stack in stacks:
        loading = typical(lambda stack=stack: load(stack), times)
        program = typical(lambda stack=stack: recording.record(stack), times)
        preview = typical(lambda stack=stack: recording.record(stack, preview=True), times)
        with mock.patch.object(recording, "_without_aliases", return_value=None):
            aliased = typical(lambda stack=stack: recording.record(stack), min(times, 3))
        count = len(recording.record(stack).resources)
        rows.append([stack, count, loading, program, preview, aliased, aliased / program])
        note(stack)
    columns = ("stack", "resources", "settings s", "program s", "as preview s", "with aliases s", "ratio")
    table(f"program under mocks, settings included, median of {times}", columns, rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stacks", nargs="*", help="stacks (default: all)")
    parser.add_argument("--times", type=int, default=5, help="runs of each; the medians are printed (default: 5)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
