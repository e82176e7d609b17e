"""Removes what the releases of a stack have left in the cluster."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cluster_cleanup.cleanup import clean
from cluster_cleanup.model import Found, Requests, Wanted
from json_http import ACCOUNT, Refused, of_pod

LARGEST = 64 << 20
"""Bytes of an answer: all nodes come in one."""


def main(arguments: list[str], server: Requests | None = None, pause: Callable[[float], object] = time.sleep) -> int:
    parser = argparse.ArgumentParser(prog="cluster-cleanup", description=__doc__)
    parser.add_argument("--wanted", type=Path, required=True, help="file: what the stack may have left")
    parser.add_argument("--found", type=Path, required=True, help="file: what was there before the stack")
    parser.add_argument("--account", type=Path, default=ACCOUNT, help="folder of the Pod's service account")
    parser.add_argument("--seconds", type=float, default=300, help="how long to wait for what is being deleted")
    given = parser.parse_args(arguments)
    try:
        wanted = Wanted(**json.loads(given.wanted.read_text()))
        found = Found(**json.loads(given.found.read_text()))
        server = server or of_pod(given.account, LARGEST)
        problems = clean(server, wanted, found, seconds=given.seconds, pause=pause, say=_say)
    except (Refused, OSError) as problem:
        problems = [str(problem)]
    for problem in problems:
        print(problem, file=sys.stderr, flush=True)
    return 1 if problems else 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
