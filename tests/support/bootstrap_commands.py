"""Stand-ins of `az`, `gh` and `pulumi` for the script of `physai bootstrap`. They keep state, and answer as documented.

Each asks a server which the test runs; a command that the server does not know is an error. Each is a program, and a
function of the shell too: a script makes 80 calls, and starting a process takes most of the time of one.
Sources: azure-cli (command_modules/role/custom.py: an assignment that exists is returned as it is), Azure docs on locks
(a read-only group refuses every write in it), GitHub's REST reference (303 for a branch policy that exists,
environments are updated as a whole), cli/cli (pkg/cmd/api/api.go: the body of an error goes to stdout without the
filter, and every status above 299 ends with 1).
"""

from __future__ import annotations

import copy
import json
import os
import signal
import socketserver
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.support.bootstrap_az import Az
from tests.support.bootstrap_gh import Gh
from tests.support.bootstrap_words import FRESH, Refused, option

COMMANDS = ("az", "gh", "pulumi")
ASKS = """\
  local word body="" code out err
  for word in "$@"; do [ "$word" != --input ] || body="$(cat)"; done
  {{
    {{ printf '%s\\x1f' {name} "{asker}" "$body" "$@"; printf '\\x1e'; }} >&9
    IFS= read -r -d '' code <&9
    IFS= read -r -d '' out <&9
    IFS= read -r -d '' err <&9
  }} 9<>/dev/tcp/127.0.0.1/{port}
  [ -z "$out" ] || printf '%s\\n' "$out"
  [ -z "$err" ] || printf '%s\\n' "$err" >&2
  return "$code"
"""
"""Body of a function in Bash that asks the server. `asker` is the process that an interruption ends."""


class Pulumi:
    def __init__(self, state: dict[str, Any], words: list[str], _: str) -> None:
        self.state, self.words = state, words

    def run(self) -> str:
        if self.words[0] == "login":
            return ""
        assert self.words[0] == "stack", self.words
        name, known = self.words[2], self.state["stacks"]
        if (name in known) != (self.words[1] == "select"):
            raise Refused(f"stack '{name}' {'already exists' if name in known else 'not found'}")
        if self.words[1] == "init":
            assert option(self.words, "--secrets-provider").startswith("azurekeyvault://")
            known.append(name)
        return ""


def answer(state: dict[str, Any], fields: list[str]) -> tuple[int, str, str]:
    """Exit code, output and error output of a command."""
    name, parent, body, *words = fields
    state["calls"].append([name, *words])
    said = " ".join([name, *words])
    try:
        for prefix, left in state["fails"].items():
            if said.startswith(prefix) and left:
                state["fails"][prefix] = left - 1
                raise Refused("(Forbidden) a new role has not taken effect")
        if state["interrupts"] and said.startswith(state["interrupts"]):
            state["interrupts"] = ""
            os.kill(int(parent), signal.SIGINT)
            raise Refused("interrupted", 130)
        return 0, {"az": Az, "gh": Gh, "pulumi": Pulumi}[name](state, words, body).run(), ""
    except Refused as problem:
        return problem.code, "" if problem.body is None else json.dumps(problem.body), str(problem)
    except Exception as problem:
        return 99, "", f"the stand-in of {said}: {problem!r}"


class World:
    """Azure, GitHub and a state backend, and the folder of the commands that reach them."""

    def __init__(self, commands: Path, port: int) -> None:
        self.state: dict[str, Any] = copy.deepcopy(FRESH)
        self.commands = commands
        bodies = {name: ASKS.format(port=port, name=name, asker="$$") for name in COMMANDS}
        self.functions = "".join(f"{name}() {{\n{body}}}\n" for name, body in bodies.items())
        """The commands as functions, for a script to begin with."""

    def change(self, **changed: Any) -> None:
        self.state |= copy.deepcopy(changed)

    def calls(self, *words: str) -> list[list[str]]:
        return [each for each in self.state["calls"] if each[: len(words)] == list(words)]


@contextmanager
def world_in(folder: Path) -> Generator[World]:
    """Creates the commands in `folder`, which work until the context ends."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            text = b""
            while not text.endswith(b"\x1e"):
                text += self.connection.recv(65_536)
            code, out, err = answer(world.state, text[:-2].decode().split("\x1f"))
            with suppress(BrokenPipeError):
                self.wfile.write(f"{code}\0{out}\0{err}\0".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        port = server.server_address[1]
        world = World(folder, port)
        threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True).start()
        folder.mkdir()
        for name in COMMANDS:
            command = folder / name
            body = ASKS.format(port=port, name=name, asker="$PPID")
            command.write_text(f'#!/bin/bash\nasked() {{\n{body}}}\nasked "$@"\n')
            command.chmod(0o755)
        yield world
        server.shutdown()
