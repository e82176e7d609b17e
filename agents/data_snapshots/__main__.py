"""Takes one snapshot of each volume, and deletes old ones."""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Callable
from pathlib import Path

from data_snapshots.snapshots import Failed, Requests, Wanted, take
from json_http import ACCOUNT, Refused, of_pod


def main(arguments: list[str], server: Requests | None = None, pause: Callable[[float], object] = time.sleep) -> int:
    parser = argparse.ArgumentParser(prog="data-snapshots", description=__doc__)
    parser.add_argument("--namespace", required=True, help="of the volumes")
    parser.add_argument("--class", dest="snapshot_class", required=True, help="VolumeSnapshotClass")
    parser.add_argument("--keep", type=int, required=True, help="complete snapshots of each volume that remain")
    parser.add_argument("--volume", action="append", required=True, help="SERVICE=CLAIM, in their order")
    parser.add_argument("--account", type=Path, default=ACCOUNT, help="folder of the Pod's service account")
    parser.add_argument("--seconds", type=float, default=1800, help="how long to wait for each snapshot")
    given = parser.parse_args(arguments)
    claims = dict(each.split("=", 1) for each in given.volume)
    wanted = Wanted(given.namespace, given.snapshot_class, given.keep, claims)
    moment = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M")
    try:
        take(server or of_pod(given.account), wanted, moment, seconds=given.seconds, pause=pause, say=_say)
    except (Refused, Failed, OSError) as problem:
        print(problem, file=sys.stderr, flush=True)
        return 1
    return 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
