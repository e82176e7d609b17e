"""Explanations of YAML syntax errors, in place of the parser's own terms."""

from __future__ import annotations

import yaml

from physical_ai.untrusted import documents

INDENTATION = "the indentation does not match the lines above"
MEANINGS = {
    "mapping values are not allowed": (
        "`name: value` where only a value can be: correct the indentation, or quote a text that contains `: `"
    ),
    r"'\t' that cannot start any token": (
        "a tab where only spaces can be, also at the end of a line: replace it by spaces"
    ),
    "that cannot start any token": (
        "a character that cannot begin a value: indent with spaces instead of tabs, and quote a text that begins with "
        "`@`, `%` or a backquote"
    ),
    "expected chomping or indentation indicators": (
        "a sign right after `|` or `>`: a comment there needs a space before it"
    ),
    "undefined alias": "`*name` without `&name` above it: quote a text that begins with `*`",
    "unexpected end of stream": "a quoted text is not closed",
    "did not find expected ',' or ']'": "a list that begins with `[` is not closed, or lacks a comma",
    "did not find expected ',' or '}'": "a map that begins with `{` is not closed, or lacks a comma",
    "unknown escape character": "an unknown escape after a backslash: use single quotes, or write the backslash twice",
    "did not find expected '-' indicator": INDENTATION,
    "did not find expected key": INDENTATION,
    "did not find expected <document start>": INDENTATION,
    "could not find expected ':'": "a name without `:` after it",
    "alphabetic or numeric character": "a name is missing after `&` or `*`",
    "could not determine a constructor": "a tag (`!…`) that is not one of YAML's own",
    "but found another document": "a second document: `---` may not separate parts of this file",
    "unknown directive name": "an unknown directive: quote a text that begins with `%`",
    "did not find expected node content": (
        "a value is missing, or begins with a character that cannot begin one: quote a text that begins with `%`, `,`, "
        "`]` or `}`"
    ),
    "unhashable key": "a map or a list where a name is expected: quote a text that contains `{{ }}`",
    "but found scalar": "a tag (`!…`) that does not fit its value",
    "failed to decode base64": "text that is not base64 after `!!binary`",
    "a value can't be read": "a value that is not of the form that its tag (`!…`) or its digits promise: quote a text",
    "block sequence entries are not allowed": "`- ` where a list cannot begin: begin the list in a new line",
    "mapping keys are not allowed": "`? ` where a map cannot begin: quote a text that begins with `? `",
    "found unexpected ':'": "`:` within a list `[…]` or map `{…}`: quote a text that contains `:`",
    "control characters are not allowed": "a control character, which YAML cannot contain: remove it",
}
"""Text of a PyYAML message → explanation of the error, with what to write instead (messages of its C parser, libyaml
0.2).
"""
UNKNOWN = "a sign that cannot be here: quote a text that contains special signs"


def meaning(error: yaml.YAMLError) -> str:
    """Explanation of an error in one line, without any of the text and without the parser's terms."""
    if isinstance(error, documents.LimitExceeded):
        return error.message
    parts = (error.context, error.problem) if isinstance(error, yaml.MarkedYAMLError) else ()
    message = " ".join(part for part in parts if part) or " ".join(str(error).split())
    return next((meant for part, meant in MEANINGS.items() if part in message), UNKNOWN)
