"""A preview without changes of a running stack, as a whole command: with the resident process that has loaded the
program, against loading it anew.
"""

from __future__ import annotations

import argparse
import os
import statistics

from measure import DEFAULT_STACK, Place, note, place, table

from simulator import resident


def main() -> None:
    options = _options()
    with place(options.stack) as here:
        here.must("up")
        seconds: dict[str, list[float]] = {"on": [], "off": []}
        for number in range(options.times):
            for setting, found in seconds.items():
                found.append(_preview(here, setting))
            note(f"round {number + 1} of {options.times}")
    resident_s, anew_s = (statistics.median(found) for found in seconds.values())
    columns = ("stack", "resident s", "anew s", "ratio")
    table(f"preview, median of {options.times}", columns, [[here.stack, resident_s, anew_s, resident_s / anew_s]])


def _preview(here: Place, setting: str) -> float:
    os.environ[resident.VARIABLE] = setting
    return here.must("preview").seconds


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5, help="runs of each; the medians are printed (default: 5)")
    parser.add_argument("--stack", default=DEFAULT_STACK)
    return parser.parse_args()


if __name__ == "__main__":
    main()
