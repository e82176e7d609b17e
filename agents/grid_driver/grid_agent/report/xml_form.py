"""`nvidia-smi -q -x`: the same report as XML (its nvsmi_device DTD). Pure.

nvidia-smi escapes names of processes and prints their control characters as they are, which XML forbids: seen with
driver 580.159.04 on an H100. They are replaced before the document is read.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from grid_agent.report.tree import Node, Tree, Unreadable, lines_of, named, tail

_START = re.compile(r"<\?xml\b|<nvidia_smi_log\b")
_END = "</nvidia_smi_log>"
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
DEEPEST = 32
"""Elements within one another; a report has eight."""


def is_xml(text: str) -> bool:
    return _START.search(text) is not None


def read_xml(text: str) -> Tree:
    """The tree of a report and of what stands before and after it.

    Raises:
        Unreadable: the document is not well-formed, ends early, or declares entities.
    """
    start = _START.search(text)
    end = text.find(_END)
    if start is None or end < start.end():
        raise Unreadable(f"the report ends at line {len(lines_of(text.rstrip()))}, before {_END}")
    before, document = text[: start.start()], text[start.start() : end + len(_END)]
    if "<!ENTITY" in document:
        raise Unreadable("the report declares entities, which nvidia-smi does not")
    root = _parsed(_FORBIDDEN.sub("\ufffd", document), len(lines_of(before)) - 1)
    gpus = root.at("gpu")
    for gpu in gpus:
        gpu.children = [child for child in gpu.children if child.name != "processes"]
    root.children = [child for child in root.children if child.name != "gpu"]
    remarks, modules = tail([*lines_of(before), *lines_of(text[end + len(_END) :])])
    return Tree(root, gpus, remarks, modules)


def _parsed(document: str, lines_before: int) -> Node:
    top = Node("", "", "", 0)
    stack = [top]
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(stack) > DEEPEST:
            raise Unreadable(f"line {parser.CurrentLineNumber + lines_before} is nested too deep")
        node = named(name, "", parser.CurrentLineNumber + lines_before)
        if node.name == "gpu":
            node.label = attributes.get("id", "")
        stack[-1].children.append(node)
        stack.append(node)

    def end(_: str) -> None:
        node = stack.pop()
        node.value = " ".join(node.value.split())

    def text(data: str) -> None:
        stack[-1].value += data

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    try:
        parser.Parse(document.encode(), True)
    except expat.ExpatError as problem:
        line = problem.lineno + lines_before
        raise Unreadable(f"line {line} of the report is not well-formed: {expat.ErrorString(problem.code)}") from None
    (root,) = top.children
    return root
