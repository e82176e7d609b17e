"""docs/reference/commands.md, generated from the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from docs.generator.markdown import code, table
from workbench.cli.main import app

_HEAD = """\
# Commands

Generated from the command line by `python -m docs.generator`; `physai COMMAND --help` prints the same. STACK is
`<environment>-<region>`; the default is `dev-westus2`. With `--json`, stdout is one JSON document, and all other output
goes to stderr. `schemaVersion` in the document increases when a key is removed or changes its meaning; `env`, `schema`
and `osmo values` print formats of others, without it.
"""
_EXIT_CODES = """\
| exit code | means |
|---|---|
| 0 | done |
| 1 | the operation failed |
| 2 | the input is invalid; nothing was changed |
| 3 | findings at or above the chosen severity, an action that is needed, a difference, or an unexpected change |
| 130 | interrupted; run the same command to continue |
| 141 | the reader of the output has ended, as `head` does |
"""
_COMPLETION = """\
## Completion

```sh
physai --install-completion        # for the shell it is typed in: bash, zsh, fish, PowerShell
```

In a new shell, Tab then completes commands, options and the names of stacks. `physai --show-completion` prints the
script instead, for those who keep such files themselves. The completion runs the `physai` that the shell finds: put it
on `PATH`, or activate `.venv`.
"""


def commands(command: Any = None, words: tuple[str, ...] = ("physai",)) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command of the command line, with the words of its name."""
    command = typer.main.get_command(app) if command is None else command
    below: dict[str, Any] | None = getattr(command, "commands", None)
    if below is None or command.invoke_without_command:
        yield words, command
    for name, each in (below or {}).items():
        yield from commands(each, (*words, name))


def document() -> str:
    """Text of the complete page."""
    found = list(commands())
    listed = [(f"[`{' '.join(words)}`](#{'-'.join(words)})", _first(command.help)) for words, command in found]
    parts = [_HEAD, table(("command", "does"), listed), _EXIT_CODES, _COMPLETION]
    return "\n".join([*parts, *(_section(words, command) for words, command in found)])


def _first(text: str) -> str:
    return text.strip().partition("\n\n")[0].strip()


def _section(words: tuple[str, ...], command: Any) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    usage = " ".join([*words, *(["[OPTIONS]"] if options else []), *(_argument(each) for each in arguments)])
    text = "\n\n".join(" ".join(part.split()) for part in command.help.strip().split("\n\n"))
    lines = [f"## {' '.join(words)}\n", f"{text}\n", f"```text\n{usage}\n```\n"]
    shown = [(code(_argument(each)), _default(each), _help(each)) for each in arguments]
    shown += [(_names(each), _default(each), _help(each)) for each in options]
    if shown:
        lines.append(table(("argument or option", "default", "what it is"), shown))
    return "\n".join(lines)


def _argument(argument: Any) -> str:
    name = argument.metavar or f"{argument.name.upper()}{'…' if argument.nargs == -1 else ''}"
    return name if argument.required else f"[{name}]"


def _names(option: Any) -> str:
    value = "" if option.is_flag else f" {option.metavar or option.name.strip('_').upper()}"
    names = sorted([*option.opts, *option.secondary_opts], key=lambda each: each.startswith("--"))
    return ", ".join(code(f"{each}{value if each.startswith('--') else ''}") for each in names)


def _default(parameter: Any) -> str:
    default = parameter.default
    return "*required*" if parameter.required else "–" if default in (None, False, (), []) else code(default)


def _help(parameter: Any) -> str:
    return parameter.help or ""
