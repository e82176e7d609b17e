"""Parser for the commands of a shell script, with the operators between them and the compound commands around them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from workbench.osmo.shell import grammar
from workbench.osmo.shell.model import Assignment, Command, Redirection, Unreadable, Word
from workbench.osmo.shell.words import Words


@dataclass
class _Open:
    """A compound command whose end the parser has not reached yet."""

    closing: str
    in_function: bool
    expects_pattern: bool = False


def commands(text: str) -> list[Command]:
    """The commands of a script, each with the commands in its substitutions. Raises `Unreadable`."""
    return _Reader(text, 0, 0).read(closing=False)


def _nested(text: str, at: int, depth: int) -> tuple[list[Command], int]:
    reader = _Reader(text, at, depth)
    found = reader.read(closing=True)
    return found, reader.at


@dataclass
class _Reader:
    text: str
    at: int
    nesting: int
    found: list[Command] = field(default_factory=list[Command])
    opened: list[_Open] = field(default_factory=list[_Open])
    before: str = ""
    _function_next: bool = False
    _texts: list[tuple[Command, str, Word]] = field(default_factory=list[tuple[Command, str, Word]])
    """Here-documents whose text begins after the end of the present line: command, operator, delimiter."""

    def __post_init__(self) -> None:
        self.words = Words(self.text, _nested, self.nesting)

    def read(self, *, closing: bool) -> list[Command]:
        text = self.text
        while True:
            self._skip()
            if self.at >= len(text):
                if closing or self.opened:
                    missing = self.opened[-1].closing if self.opened else ")"
                    raise Unreadable(f"`{missing}` is missing", self.at)
                return self.found
            if self.opened and self.opened[-1].expects_pattern:
                self._pattern()
            elif text[self.at] == "\n":
                self._line_end()
            elif text[self.at] == ")":
                self.at += 1
                if self.opened and self.opened[-1].closing == ")":
                    self._close(")")
                elif closing and not self.opened:
                    return self.found
                else:
                    raise Unreadable("a ) without a (", self.at - 1)
            elif operator := grammar.OPERATOR.match(text, self.at):
                self._operator(operator[0])
            elif text[self.at] == "(":
                self._parenthesis()
            else:
                self._command()

    def _skip(self) -> None:
        blank = grammar.BLANK.match(self.text, self.at)
        assert blank is not None  # the pattern also matches an empty text
        self.at = blank.end()
        if self.text.startswith("#", self.at):
            end = self.text.find("\n", self.at)
            self.at = end if end >= 0 else len(self.text)

    def _line_end(self) -> None:
        self.at += 1
        self.before = self.before if self.before in ("|", "|&", "&&", "||") else ""
        for command, operator, delimiter in self._texts:
            self._following(command, operator, delimiter)
        self._texts.clear()

    def _following(self, command: Command, operator: str, delimiter: Word) -> None:
        """Reads the text of a here-document, up to the line with its delimiter, or the end of the script."""
        blank = r"\t*" if operator.endswith("-") else ""
        name = "".join(part if isinstance(part, str) else part.text for part in delimiter.parts)
        end = re.compile(rf"^{blank}{re.escape(name)}$", re.MULTILINE).search(self.text, self.at)
        stop = end.start() if end is not None else len(self.text)
        body = self.text[self.at : stop]
        self.at = min((end.end() if end is not None else stop) + 1, len(self.text))
        is_quoted = any(sign in delimiter.raw for sign in "'\"\\")
        expansions = () if is_quoted else self.words.replaced(body)
        command.redirections.append(Redirection(operator, delimiter, body, expansions))

    def _operator(self, operator: str) -> None:
        self.at += len(operator)
        if operator.startswith(";;") or operator == ";&":
            if not self.opened or self.opened[-1].closing != "esac":
                raise Unreadable(f"{operator} outside of case", self.at - len(operator))
            self.opened[-1].expects_pattern = True
        if self.found and not self.found[-1].after:
            self.found[-1].after = operator
        self.before = operator

    def _parenthesis(self) -> None:
        if self.text.startswith("((", self.at):
            start = self.at
            expression, self.at = self.words.arithmetic(self.at + 2)
            self._add(Command("arithmetic", start, self.at, loose=(expression,)))
            return
        self.at += 1
        self._open(")")

    def _open(self, closing: str, *, expects_pattern: bool = False) -> None:
        inside = self._function_next or self._in_function
        self._function_next = False
        self.opened.append(_Open(closing, inside, expects_pattern))
        self.before = ""

    @property
    def _in_function(self) -> bool:
        return bool(self.opened) and self.opened[-1].in_function

    def _close(self, closing: str) -> None:
        if not self.opened or self.opened[-1].closing != closing:
            raise Unreadable(f"`{closing}` where it closes nothing", self.at)
        self.opened.pop()
        end = Command("end", self.at, self.at)
        self._rest(end)
        self._add(end)

    def _add(self, command: Command) -> None:
        command.depth, command.in_function, command.before = len(self.opened), self._in_function, self.before
        self.before = ""
        self.found.append(command)

    def _pattern(self) -> None:
        """Reads a pattern of `case`, or the end of the `case` command."""
        while self.text.startswith("\n", self.at):
            self.at += 1
            self._skip()
        word = self.words.word(self.at)
        if word.raw == "esac":
            self.at = word.end
            self._close("esac")
            return
        end = grammar.PATTERN.match(self.text, self.at + self.text.startswith("(", self.at))
        if end is None:
            raise Unreadable("a pattern of case without )", self.at)
        self.at = end.end()
        self.opened[-1].expects_pattern = False

    def _command(self) -> None:
        start = self.at
        word = self.words.word(start)
        if word.end == start and not grammar.REDIRECTION.match(self.text, start):
            raise Unreadable(f"{self.text[start]} where a command is expected", start)
        if word.raw in grammar.CLOSERS:
            self.at = word.end
            self._close(word.raw)
        elif word.raw in grammar.OPENERS:
            self.at = word.end
            self._open(grammar.OPENERS[word.raw])
        elif word.raw in grammar.HEADS:
            self.at = word.end
        elif word.raw in ("for", "select"):
            self._loop(start, word)
        elif word.raw == "case":
            self._case(start, word)
        elif word.raw == "function":
            self.at = self.words.word(self._behind(word.end)).end
            self._function()
        elif word.raw == "[[":
            self._test(start)
        elif grammar.FUNCTION.match(self.text, word.end) and word.value and "=" not in word.raw:
            self.at = word.end
            self._function()
        else:
            command = Command("simple", start)
            self._rest(command)
            self._add(command)

    def _behind(self, at: int) -> int:
        blank = grammar.BLANK.match(self.text, at)
        return blank.end() if blank is not None else at

    def _function(self) -> None:
        if brackets := grammar.FUNCTION.match(self.text, self.at):
            self.at = brackets.end()
        self._function_next = True

    def _loop(self, start: int, word: Word) -> None:
        """Reads the head of a loop: `for NAME in words`, or `for ((…))`."""
        self.at = self._behind(word.end)
        if self.text.startswith("((", self.at):
            self._parenthesis()
        else:
            command = Command("for", start)
            self._rest(command)
            self._add(command)
        self._open("done")

    def _case(self, start: int, word: Word) -> None:
        subject = self.words.word(self._behind(word.end))
        self.at = subject.end
        self._add(Command("case", start, subject.end, (word, subject)))
        into = grammar.IN.match(self.text, self.at)
        if into is None:
            raise Unreadable("case without in", start)
        self.at = into.end()
        self._open("esac", expects_pattern=True)

    def _test(self, start: int) -> None:
        """Reads a test `[[ … ]]`, in which operators such as `&&` are words."""
        found: list[Word] = []
        while True:
            self._skip()
            if self.at >= len(self.text):
                raise Unreadable("`]]` is missing", start)
            word = self.words.word(self.at)
            if word.end == self.at:
                self.at += 1
                continue
            self.at = word.end
            found.append(word)
            if word.raw == "]]":
                break
        self._add(Command("test", start, self.at, tuple(found)))

    def _rest(self, command: Command) -> None:
        """Reads words, assignments and redirections of a command, up to an operator or the end of the line."""
        words: list[Word] = []
        assignments: list[Assignment] = []
        text = self.text
        command.end = self.at
        while True:
            self.at = self._behind(self.at)
            if self.at >= len(text) or text[self.at] in "\n)" or text[self.at] == "#":
                break
            if redirection := grammar.REDIRECTION.match(text, self.at):
                self.at = redirection.end()
                self._redirection(command, redirection[0].lstrip("0123456789"))
                command.end = self.at
                continue
            if grammar.OPERATOR.match(text, self.at):
                break
            given = grammar.ASSIGNMENT.match(text, self.at)
            is_assigned = given is not None and (not words or words[0].raw in grammar.DECLARES)
            if is_assigned and given is not None:
                assignments.append(self._assignment(given))
            else:
                word = self.words.word(self.at)
                if word.end == self.at:
                    raise Unreadable(f"{text[self.at]} where a word is expected", self.at)
                words.append(word)
                self.at = word.end
            command.end = self.at
        command.words, command.assignments = tuple(words), tuple(assignments)

    def _assignment(self, given: re.Match[str]) -> Assignment:
        self.at = given.end()
        if not self.text.startswith("(", self.at):
            word = self.words.word(self.at)
            self.at = word.end
            return Assignment(given["name"], (word,), False, given.start())
        items: list[Word] = []
        self.at += 1
        while True:
            self._skip()
            if self.at >= len(self.text):
                raise Unreadable("a list of words is not closed", given.start())
            if self.text[self.at] == ")":
                break
            if self.text[self.at] == "\n":
                self.at += 1
                continue
            word = self.words.word(self.at)
            if word.end == self.at:
                raise Unreadable(f"{self.text[self.at]} where a word is expected", self.at)
            items.append(word)
            self.at = word.end
        self.at += 1
        return Assignment(given["name"], tuple(items), True, given.start())

    def _redirection(self, command: Command, operator: str) -> None:
        self.at = self._behind(self.at)
        word = self.words.word(self.at)
        self.at = word.end
        if operator in ("<<", "<<-"):
            self._texts.append((command, operator, word))
        else:
            command.redirections.append(Redirection(operator, word))
