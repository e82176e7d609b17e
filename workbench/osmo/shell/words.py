"""Parser for the words of a shell script: quotes and expansions."""

from __future__ import annotations

import re
from collections.abc import Callable

from workbench.osmo.shell.model import Command, Expansion, Unreadable, Word

DEEPEST = 40
"""Largest depth of nested substitutions. Scripts that people write reach a depth of 3."""
TOO_DEEP = f"more than {DEEPEST} substitutions are in each other"
_PLAIN = re.compile(r"[^ \t\n\\'\"`$;&|<>()]+")
_QUOTED = re.compile(r"[^\\\"`$]+")
_TEXT = re.compile(r"[^\\`$]+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BRACED = re.compile(r"[!#]?(?P<name>[A-Za-z_]\w*|[0-9]+|[@*#?$!-])")
_OPERAND = re.compile(r"[^\\'\"`$}]+")
_ARITHMETIC = re.compile(r"[^\\'\"`$()]+")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_CLOSED = re.compile(r"(?:[^`\\]|\\.)*", re.DOTALL)
_ESCAPED = re.compile(r"\\([`$\\])")
_ANSI = re.compile(r"(?:[^'\\]|\\.)*", re.DOTALL)
Inner = Callable[[str, int, int], tuple[list[Command], int]]
"""Function that reads commands up to a closing parenthesis. Arguments: text, offset and depth. It returns the commands,
and the offset after the parenthesis.
"""


class Words:
    """Parser for single words of a script, each from a given offset."""

    def __init__(self, text: str, inner: Inner, depth: int) -> None:
        self.text, self._inner, self._depth = text, inner, depth
        if depth > DEEPEST:
            raise Unreadable(TOO_DEEP, 0)

    def word(self, start: int) -> Word:
        """The word at an offset; an empty word if none begins there."""
        text, at, parts = self.text, start, list[str | Expansion]()
        while at < len(text):
            character = text[at]
            if plain := _PLAIN.match(text, at):
                parts.append(plain[0])
                at = plain.end()
            elif character == "\\":
                if text[at + 1 : at + 2] != "\n":
                    parts.append(text[at + 1 : at + 2])
                at += 2
            elif character == "'":
                at = self._single(at, parts)
            elif character == '"':
                at = self._double(at + 1, parts)
            elif character in "$`":
                at = self.expansion(at, parts)
            elif character in "<>" and text[at + 1 : at + 2] == "(":
                at = self._command(at + 2, at, parts)
            elif character == "(" and parts and isinstance(parts[-1], str) and parts[-1][-1:] in ("@", "?", "*", "+"):
                at = self._pattern(at, parts)
            else:
                break
        at = min(at, len(text))
        return Word(text[start:at], start, at, tuple(parts))

    def _pattern(self, at: int, parts: list[str | Expansion]) -> int:
        """Reads a pattern such as `@(a|b)`, one of bash's extended patterns. Returns the offset after it."""
        end = self.text.find(")", at)
        if end < 0:
            raise Unreadable("a parenthesis is not closed", at)
        parts.append(self.text[at : end + 1])
        return end + 1

    def _single(self, at: int, parts: list[str | Expansion]) -> int:
        end = self.text.find("'", at + 1)
        if end < 0:
            raise Unreadable("a ' is not closed", at)
        parts.append(self.text[at + 1 : end])
        return end + 1

    def _double(self, at: int, parts: list[str | Expansion]) -> int:
        """Reads a double-quoted text from after its opening quote. Returns the offset after the closing quote."""
        start, text = at, self.text
        parts.append("")
        while at < len(text):
            character = text[at]
            if plain := _QUOTED.match(text, at):
                parts.append(plain[0])
                at = plain.end()
            elif character == '"':
                return at + 1
            elif character == "\\":
                following = text[at + 1 : at + 2]
                parts.append("" if following == "\n" else following if following in '$`"\\' else f"\\{following}")
                at += 2
            else:
                at = self.expansion(at, parts, quoted=True)
        raise Unreadable('a " is not closed', start - 1)

    def replaced(self, text: str) -> tuple[Expansion, ...]:
        """The expansions in the text of a here-document."""
        inner, parts, at = Words(text, self._inner, self._depth + 1), list[str | Expansion](), 0
        while at < len(text):
            if plain := _TEXT.match(text, at):
                at = plain.end()
            elif text[at] == "\\":
                at += 2
            else:
                at = inner.expansion(at, parts, quoted=True)
        return tuple(part for part in parts if isinstance(part, Expansion))

    def expansion(self, at: int, parts: list[str | Expansion], *, quoted: bool = False) -> int:
        """Reads the expansion at an offset, which begins with `$` or a backtick, and appends it to `parts`. Returns the
        offset after it.
        """
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unreadable(TOO_DEEP, at)
        end = self._expansion(at, parts, quoted)
        self._depth -= 1
        return end

    def _expansion(self, at: int, parts: list[str | Expansion], quoted: bool) -> int:
        text = self.text
        if text[at] == "`":
            return self._backtick(at, parts)
        if text.startswith("$((", at):
            expression, end = self.arithmetic(at + 3)
            parts.append(expression)
            return end
        following = text[at + 1 : at + 2]
        if following == "(":
            return self._command(at + 2, at, parts)
        if following == "{":
            return self._braced(at + 2, parts)
        if following in ("'", '"') and not quoted:
            return self._ansi(at + 2, parts) if following == "'" else self._double(at + 2, parts)
        name = _NAME.match(text, at + 1)
        parts.append(Expansion("variable", name[0]) if name is not None else "$")
        return name.end() if name is not None else at + 1

    def _backtick(self, at: int, parts: list[str | Expansion]) -> int:
        closed = _CLOSED.match(self.text, at + 1)
        assert closed is not None  # the pattern also matches an empty text
        if closed.end() >= len(self.text):
            raise Unreadable("a ` is not closed", at)
        source = _ESCAPED.sub(r"\1", closed[0])
        found, _ = self._inner(f"{source}\n)", 0, self._depth + 1)
        parts.append(Expansion("command", source, commands=tuple(found)))
        return closed.end() + 1

    def _ansi(self, at: int, parts: list[str | Expansion]) -> int:
        found = _ANSI.match(self.text, at)
        assert found is not None  # the pattern also matches an empty text
        if found.end() >= len(self.text):
            raise Unreadable("a $' is not closed", at)
        parts.append(found[0])
        return found.end() + 1

    def _command(self, at: int, start: int, parts: list[str | Expansion]) -> int:
        found, end = self._inner(self.text, at, self._depth + 1)
        parts.append(Expansion("command", self.text[start:end], commands=tuple(found)))
        return end

    def _braced(self, at: int, parts: list[str | Expansion]) -> int:
        """Reads `${…}` from after the brace, and appends the expansion to `parts`. Returns the offset after it."""
        name = _BRACED.match(self.text, at)
        start = name.end() if name is not None else at
        found, end = self._until(start, _OPERAND, "}")
        operator = self.text[start:end]
        text = name["name"] if name is not None else ""
        if name is not None and name[0] != text:
            operator = f"{name[0][0]}{operator}"
        parts.append(Expansion("variable", text, operator, inner=tuple(found)))
        return end + 1

    def _until(self, at: int, plain: re.Pattern[str], closing: str) -> tuple[list[Expansion], int]:
        """Expansions from the offset `at` up to the next character `closing`, and the offset of this character."""
        start, text, parts = at, self.text, list[str | Expansion]()
        while at < len(text):
            character = text[at]
            if character == closing:
                return [part for part in parts if isinstance(part, Expansion)], at
            if found := plain.match(text, at):
                at = found.end()
            elif character == "\\":
                at += 2
            elif character == "'" and closing != "}":
                at = self._single(at, parts)
            elif character == '"':
                at = self._double(at + 1, parts)
            elif character in "$`":
                at = self.expansion(at, parts)
            else:
                at += 1
        raise Unreadable(f"a {closing} is missing", start)

    def arithmetic(self, at: int) -> tuple[Expansion, int]:
        """The arithmetic expression from the offset `at` up to `))`, and the offset after it.

        The text `$((` always begins arithmetic here. A command that begins with a group must be written `$( (`, because
        trying both meanings would double the time with each nested pair.
        """
        start, text, depth, parts = at, self.text, 0, list[str | Expansion]()
        while at < len(text):
            character = text[at]
            if plain := _ARITHMETIC.match(text, at):
                parts += [Expansion("variable", name) for name in _VARIABLE.findall(plain[0])]
                at = plain.end()
            elif character == "(":
                depth, at = depth + 1, at + 1
            elif character == ")" and depth:
                depth, at = depth - 1, at + 1
            elif character == ")":
                if text[at + 1 : at + 2] != ")":
                    break
                inner = tuple(part for part in parts if isinstance(part, Expansion))
                return Expansion("arithmetic", text[start:at], inner=inner), at + 2
            elif character in "$`":
                at = self.expansion(at, parts)
            elif character == '"':
                at = self._double(at + 1, parts)
            else:
                at += 2 if character == "\\" else 1
        raise Unreadable("`))` is missing", start)
