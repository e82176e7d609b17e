"""Conversion of the data that was read into the entries of a recording: credentials are removed, names and ids are
replaced, and a summary is added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from physical_ai.kubernetes.objects import at, name, namespace
from workbench.recordings.credentials import Remover, SettingsRemover
from workbench.recordings.fitting import fitted
from workbench.recordings.form import HEAD, NAME, VERSION, Entry
from workbench.recordings.names import KINDS, Replacer, numbered

OWN = ("kind", "path", "query", "format", "version", "program", "recordedAt", "simulated", "stack")
"""Fields of an entry that are not changed, because this program has written their values."""


def head(stack: str, at_: str, program: str, *, simulated: bool) -> Entry:
    """The first entry of a recording."""
    fields = {"stack": stack, "recordedAt": at_, "program": program, "simulated": simulated}
    return {"kind": HEAD, "format": NAME, "version": VERSION, **fields}


def made(entries: Iterable[Entry]) -> list[Entry]:
    """All entries in the form in which they are written to the file. The second entry is a summary of the other
    entries.
    """
    remover = Remover()
    clean = [_clean(each, remover) for each in entries]
    replacer = Replacer(clean)
    found = [{key: value if key in OWN else replacer(value) for key, value in each.items()} for each in clean]
    found = [_sorted(each) for each in found]
    _number(found)
    found = fitted(found)
    return [found[0], summary(found, remover, replacer), *found[1:]]


def _clean(entry: Entry, remover: Remover) -> Entry:
    if entry["kind"] == "list" and entry["path"].endswith("/configmaps"):
        return {**entry, "items": [remover.config_map(each) for each in entry["items"]]}
    if entry["kind"] == "settings":
        own = SettingsRemover()
        found = own(entry["settings"])
        remover.removed += own.removed
        return {**entry, "settings": found}
    return {key: value if key in OWN else remover(value) for key, value in entry.items()}


def _number(entries: Sequence[Entry]) -> None:
    """Gives the objects of a list different names again. If replacements have given several objects of a namespace one
    name, the first object keeps the name, and the others get a number after it.
    """
    taken: dict[tuple[str, str], set[str]] = {}
    for entry in entries:
        for each in entry["items"] if entry["kind"] == "list" else ():
            if "name" not in at(each, "metadata", {}):
                continue
            own = taken.setdefault((entry["path"], namespace(each)), set())
            each["metadata"]["name"] = numbered(name(each), own)
            own.add(each["metadata"]["name"])


def _sorted(entry: Entry) -> Entry:
    if entry["kind"] != "list":
        return entry
    items: list[dict[str, Any]] = entry["items"]
    return {**entry, "items": sorted(items, key=lambda each: (namespace(each), name(each)))}


def summary(entries: Sequence[Entry], remover: Remover, replacer: Replacer) -> Entry:
    """The entry with the summary: numbers of objects, replacements and removals, and everything that was not read."""
    objects: Counter[str] = Counter()
    spaces: Counter[str] = Counter()
    for each in entries:
        if each["kind"] == "list":
            objects[each["path"]] += len(each["items"])
            spaces.update(str(at(item, "metadata.namespace", "")) for item in each["items"])
        else:
            objects[each["kind"]] += 1
    counts = {kind: replacer.counts[kind] for kind in KINDS if replacer.counts[kind]}
    return {
        "kind": "summary",
        "objects": {key: value for key, value in sorted(objects.items()) if value and key != HEAD},
        "namespaces": {key: value for key, value in sorted(spaces.items()) if key},
        "replaced": counts,
        "removed": remover.removed,
        "unread": [f"{each['what']} ({each['reason']})" for each in entries if each["kind"] == "unread"]
        + [f"{each['path']} ({each['text']})" for each in entries if each["kind"] == "refused"],
    }
