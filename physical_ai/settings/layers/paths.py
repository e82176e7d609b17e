"""Paths in the settings tree, and their written form: `pools.h100gpu.labels["example.com/team"]`, `ranges[0]`."""

from __future__ import annotations

import json
import re

Path = tuple[str | int, ...]

_STEP = re.compile(r"""\.?(?:(?P<word>[^.\[\]"']+)|\[(?P<index>\d+)\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\])""")


LIKE = 'Write it like pools.h100gpu.scale.max or tags["cost.center"]'


class NotAPath(ValueError):
    """Raised where a text is not the written form of a path. `fix` says what to write instead."""

    def __init__(self, text: str) -> None:
        super().__init__(f"'{text}' is not a path.")
        self.fix = f"{LIKE}."
        plain = re.sub(r"\[([A-Za-z]\w*)\]", r".\1", text)
        if plain != text:
            self.fix = f"Brackets are for quoted keys and list indexes: write {plain}"


def show(path: Path) -> str:
    """Written form of a path: keys joined by dots; list indexes, and keys with other characters, in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step and not set(step) & set(".[]\"'\\ "):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text


def parse(text: str) -> Path:
    """Path from its written form. Raises NotAPath, a ValueError."""
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if (
            match is None
            or (position == 0 and text[0] == ".")
            or (match["word"] and position and text[position] != ".")
        ):
            raise NotAPath(text)
        if match["word"] is not None:
            steps.append(match["word"])
        elif match["index"] is not None:
            steps.append(int(match["index"]))
        else:
            steps.append(json.loads(match["quoted"]))
        position = match.end()
    return tuple(steps)
