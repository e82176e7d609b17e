"""The operators and reserved words of a shell, and other characters between words."""

from __future__ import annotations

import re

BLANK = re.compile(r"(?:[ \t]|\\\n)*")
OPERATOR = re.compile(r";;&|;;|;&|&&|\|\||\|&|;|\||&(?!>)")
REDIRECTION = re.compile(r"(?:\d+|\{\w+\})?(?:<<<|<<-|<<|>>|>\||<>|>&|<&|<(?!\()|>(?!\())|&>>|&>")
ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\[[^\]\s]*\])?\+?=")
FUNCTION = re.compile(r"[ \t]*\([ \t]*\)")
PATTERN = re.compile(r"[^)]*\)")
IN = re.compile(r"(?:\s|\\\n)*in(?=\s)")
OPENERS = {"if": "fi", "while": "done", "until": "done", "{": "}"}
HEADS = ("then", "else", "elif", "do", "!", "time", "coproc")
CLOSERS = ("fi", "done", "esac", "}")
DECLARES = ("declare", "export", "local", "readonly", "typeset")
