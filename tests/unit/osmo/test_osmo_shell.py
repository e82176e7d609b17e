"""The reader of shell scripts: words, what the shell replaces, and the commands around them."""

from __future__ import annotations

import pytest

from tests.support.cases import in_one_test
from workbench.osmo.shell import Unreadable, commands


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]),
        ("a \\\n  b # c d", ["a", "b"]),
        ("a b#c", ["a", "b#c"]),
        ("A=1 B='x y' a b", ["a", "b"]),
        ("a > out 2>&1 < in b", ["a", "b"]),
        ("a $'x\\'y' $\"z\"", ["a", "x\\'y", "z"]),
        ("a @(b|c)", ["a", "@(b|c)"]),
        ("a {b,c}", ["a", "{b,c}"]),
    ],
)
def test_a_line_has_the_words_that_a_shell_gives_to_the_program(text: str, words: list[str]) -> None:
    (command,) = commands(text)
    assert [word.value for word in command.words] == words


@in_one_test(
    ("text", "replaced"),
    [
        ("a $X ${Y:-z} \"$Z\" '$W' \\$V", ["X", "Y", "Z"]),
        ('a "${X:-it\'s}" $Y', ["X", "Y"]),
        ("a $(b $X) `c`", ["$(b $X)", "c"]),
        ("a $((X + 1)) $1 $@", ["X + 1", "1", "@"]),
        ("a <(b)", ["<(b)"]),
        ("X=$Y a", ["Y"]),
        ("a > $X", ["X"]),
        ("a <<END\n$X\nEND", ["X"]),
        ("a <<'END'\n$X\nEND", []),
        ("a <<-END\n\t$X\n\tEND", ["X"]),
    ],
)
def test_what_the_shell_replaces_is_known(text: str, replaced: list[str]) -> None:
    (command,) = commands(text)
    assert [each.text for each in command.expansions()] == replaced


def test_commands_within_a_substitution_are_read() -> None:
    (command,) = commands('echo "$(a | b $(c))"')
    (found,) = command.expansions()
    assert [inner.name for inner in found.commands] == ["a", "b"]
    assert [each.text for each in found.every()] == ["$(a | b $(c))", "$(c)"]


def test_compound_commands_have_a_depth_and_functions_are_marked() -> None:
    text = (
        "f() { a; }\nfunction g {\n b\n}\nif c; then\n d\nelse e; fi\nfor x in 1 2; do h; done\n"
        "case $x in (1|2) i;; *) j ;; esac\nwhile k; do l; done < in\n( m; n ) && o\n[[ -f p && q < r ]] || s\n"
        "((x = 1))\nfor ((t = 0; t < 2; t++)); do u; done\n"
    )
    found = {command.name: (command.depth, command.in_function) for command in commands(text) if command.name}
    assert found["a"] == found["b"] == (1, True)
    assert found["d"] == found["h"] == found["i"] == found["j"] == found["l"] == found["m"] == found["u"] == (1, False)
    assert found["o"] == found["s"] == (0, False)
    assert "q" not in found


def test_operators_around_a_command_are_known() -> None:
    one, two, three, four = commands("a | b && c & d")
    assert [(each.before, each.after) for each in (one, two, three, four)] == [
        ("", "|"),
        ("|", "&&"),
        ("&&", "&"),
        ("&", ""),
    ]


@in_one_test(
    ("text", "problem"),
    [
        ("echo 'a", "a ' is not closed"),
        ('echo "a', 'a " is not closed'),
        ("echo `a", "a ` is not closed"),
        ("echo $(a", "`)` is missing"),
        ("echo ${a", "a } is missing"),
        ("echo $((a)", "`))` is missing"),
        ("if a; then b", "`fi` is missing"),
        ("done", "`done` where it closes nothing"),
        ("a )", "a ) without a ("),
        ("X=(a", "a list of words is not closed"),
        ("$(" * 100, "more than 40 substitutions"),
        ("${a:-" * 10000, "more than 40 substitutions"),
    ],
)
def test_what_is_no_script_is_refused(text: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem.replace("(", r"\(").replace(")", r"\)").replace("}", r"\}")):
        commands(text)
