"""How the time grows with the number of GPU pools: loading settings, the program under mocks, and a real preview.

A preview starts no cluster, so what is measured is the command, the engine and the program. With --up each number of
pools is deployed too, which takes minutes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from measure import DEFAULT_STACK, note, place, table, typical
from pools import with_pools

from physical_ai.settings import Overlay, load
from tests.support import recording

COUNTS = (2, 25, 50, 98)
"""98 because AKS takes 100 pools in a cluster, and two are there anyway."""


def main() -> None:
    options = _options()
    counts: list[int] = sorted(options.counts)
    recording.record(DEFAULT_STACK)  # imports the SDKs
    found: list[list[float]] = []
    for count in counts:
        found.append(_measure(count, options.times, deploy=options.up))
        note(f"{count} pools")
    names = ("settings", "program", "preview", "up")[: len(found[0])]
    rows = [[count, *seconds] for count, seconds in zip(counts, found, strict=True)]
    table(f"seconds by number of pools, median of {options.times}", ("pools", *names), rows)

    growth = [
        [1000 * (b - a) / (counts[i + 1] - counts[i]) for a, b in zip(found[i], found[i + 1], strict=True)]
        for i in range(len(counts) - 1)
    ]
    labels = [f"{counts[i]} to {counts[i + 1]}" for i in range(len(growth))]
    rows = [[label, *row] for label, row in zip(labels, growth, strict=True)]
    if len(growth) > 1:
        ratios = [last / first if first > 0 else 0.0 for first, last in zip(growth[0], growth[-1], strict=True)]
        rows.append(["last / first", *ratios])
    table("milliseconds for each further pool; linear where the ratio is about 1", ("pools", *names), rows)


def _measure(count: int, times: int, *, deploy: bool) -> list[float]:
    settings = with_pools(count)
    found = [
        typical(lambda: load(DEFAULT_STACK, [Overlay("--set", settings)]), times),
        typical(lambda: recording.record(DEFAULT_STACK, settings), times),
    ]
    with tempfile.TemporaryDirectory() as folder, place() as here:
        file = Path(folder) / "pools.yaml"
        file.write_text(json.dumps(settings))  # which is YAML too
        found.append(typical(lambda: here.must("preview", "--json", "-f", str(file)), times))
        if deploy:
            found.append(typical(lambda: here.must("up", "--json", "-f", str(file)), 1))
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", nargs="*", type=int, default=COUNTS, help="numbers of pools (default: 2 25 50 98)")
    parser.add_argument("--times", type=int, default=3, help="runs of each; the medians are printed (default: 3)")
    parser.add_argument("--up", action="store_true", help="deploy them too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
