"""The simulation's `pulumi` command: it runs the real `pulumi`, or prints an answer of its own if the real one would
fail or have no effect.

pulumi config set --path physical-ai:pools.h100gpu.scale.max 3   →   physai up STACK --set pools.h100gpu.scale.max=3

It uses only the standard library, because it is started for every call.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

PROJECT = "physical-ai"
RUN = {**dict.fromkeys(("up", "update"), "up"), **dict.fromkeys(("preview", "pre", "import", "watch"), "preview")}
"""Commands of `pulumi` that run the program. Values: the equivalent or nearest `physai` command."""
WITHOUT_PROGRAM = {"refresh": "refresh", **dict.fromkeys(("destroy", "down", "dn"), "down")}
"""Commands of `pulumi` that run the program only with `--run-program`. Values: the equivalent `physai` command."""
NO_PROGRAM = "There is no language plugin in the simulation: the plain pulumi cannot run the program. Run instead:"
NOT_KEPT = "The simulation's stack file is a copy, which every physai command writes again, so the value would be lost."
MADE_UP = "The simulator makes up the secrets of a stack; nothing has to be set here."
WRITES_CONFIG = ("set", "set-all", "rm", "remove", "delete", "rm-all", "remove-all", "copy", "cp", "refresh", "env")
SWITCHES = ("--refresh", "--target-dependents", "--continue-on-error", "--expect-no-changes", "--run-program")
"""Options without a value that both `pulumi` and `physai` accept."""
VALUES = {"--target": "--target", "-t": "--target", "--exclude": "--exclude"}
OTHER_VALUES = ("-C", "--cwd", "--color", "-v", "--verbose", "-s", "--stack", "-m", "--message", "-p", "--parallel")
"""Options of `pulumi` that have a value and that people commonly write before or after a command."""


def answer(stack: str, arguments: Sequence[str]) -> str:
    """Text to print in place of running the command; empty if the command should run."""
    words = _words(arguments)
    if not words or {"-h", "--help"} & set(arguments):
        return ""
    command, *rest = words
    if command in RUN or (command in WITHOUT_PROGRAM and "--run-program" in arguments):
        ours = {**RUN, **WITHOUT_PROGRAM}[command]
        return f"{NO_PROGRAM}\n  {shlex.join(['physai', ours, stack, *_carried(arguments)])}"
    if command in ("config", "cfg") and rest and rest[0] in WRITES_CONFIG:
        return _config(stack, rest, arguments)
    if command == "stack" and rest[:1] in (["rm"], ["remove"]):
        return (
            f"It would leave the simulated Azure and its clusters without a state. Run instead:\n  physai down {stack}"
        )
    return ""


def _config(stack: str, words: Sequence[str], arguments: Sequence[str]) -> str:
    kind, *given = words
    key = given[0].removeprefix(f"{PROJECT}:") if given else ""
    if "--secret" in arguments or key.startswith("secrets"):
        return f"{MADE_UP} On Azure, run this command in a shell without `physai env`."
    keep = f"Change stacks/Pulumi.{stack}.yaml to keep it"
    if kind != "set" or not key or len(given) < 2:
        return f"{NOT_KEPT} {keep}, then run:\n  physai preview {stack}"
    tried = shlex.join(["physai", "up", stack, "--set", f"{key}={given[1]}"])
    return f"{NOT_KEPT} {keep}, or try it with:\n  {tried}"


def _words(arguments: Sequence[str]) -> list[str]:
    """The arguments that are neither options nor values of options."""
    found: list[str] = []
    skips = False
    for word in arguments:
        if skips:
            skips = False
        elif word.startswith("-"):
            skips = word in OTHER_VALUES or word in VALUES
        else:
            found.append(word)
    return found


def _carried(arguments: Sequence[str]) -> list[str]:
    """The options that `physai` accepts as well, in its spelling. Options that only answer a prompt, such as `--yes`,
    are left out.
    """
    found: list[str] = []
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in ("-r", *SWITCHES) and value in ("", "true"):
            found.append("--refresh" if name == "-r" else name)
        elif name in VALUES:
            found += [VALUES[name], value if equals else next(rest, "")]
        elif name in ("-c", "--config"):
            setting = value if equals else next(rest, "")
            found += ["--set", setting.removeprefix(f"{PROJECT}:")]
    return found


def main(stack: str, folder: str, pulumi: str, *arguments: str) -> None:
    if text := answer(stack, arguments):
        sys.exit(f"error: {text}")
    os.execv(pulumi, [pulumi, "-C", folder, *arguments])  # noqa: S606 - the user's own arguments


if __name__ == "__main__":
    main(*sys.argv[1:])
