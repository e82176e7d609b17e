"""Faults in the files of optional parts, by file and key: contributors read these instead of a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

from parts.part import GPU_OPERATOR, Part, Stage
from parts.registry import LISTED, PARTS, TEAM, listed_part
from parts.team_list import LIST
from physical_ai.catalog.chart_images import chart_images
from physical_ai.catalog.charts import PINS, keys_file, newest_chart, pinned_charts
from physical_ai.catalog.compat.tables import key_table, keys_read
from physical_ai.catalog.load import CatalogError
from physical_ai.catalog.lookup import nearest
from physical_ai.catalog.reading import read_rows
from physical_ai.planning import manifests
from physical_ai.planning.part_fields import field_faults
from physical_ai.planning.part_names import unknown_names, unread_names
from physical_ai.planning.part_readings import unread_files
from physical_ai.repository import PACKAGES, PART_FOLDERS, PROJECT, part_files, part_folder
from physical_ai.settings.facts.pinned_images import part_images
from physical_ai.settings.faults import Fault, fault

ENFORCE = "pod-security.kubernetes.io/enforce"
LEVELS = ("restricted", "baseline", "privileged")
FORM = "physical_ai/catalog/data/charts/gpu-operator-keys.yaml"
"""Path of the file whose head explains the format of all files with keys."""
TO_BE_WRITTEN = "This is still to be written."
REGISTRY = "parts/registry.py"
"""Path of the file with the list of parts."""
OPEN = "‹"
"""Character that begins a text to be replaced in the files of a new part; such a text ends with `›`."""


@cache
def part_faults() -> tuple[Fault, ...]:
    """Faults of all parts, whether or not a stack installs them."""
    return tuple(all_faults(PARTS))


def all_faults(parts: Sequence[Part]) -> Iterator[Fault]:
    """Faults of the list of parts, and of the parts. Faults in the content of files are only found if all files can be
    read.
    """
    yield from listing_faults()
    if unfit := list(field_faults(parts)):
        yield from unfit
    else:
        yield from unmet_needs(parts)
    # A part with another name than its folder is among the faults of the list.
    found = [part for part in parts if part_folder(part.name).is_dir()]
    yield from unread_names(found)
    for part in found:
        yield from _open(part)
    unread = list(unread_files(found))
    yield from unread
    if not unread:
        yield from unknown_names(found)
        for part in found:
            yield from _faults(part)


def listing_faults() -> Iterator[Fault]:
    """Faults of part folders that are not listed, and of listed names that have no part."""
    yield from hiding_faults(PART_FOLDERS[0], PROJECT, TEAM)
    folders = [file.parent.name for file in part_files("part.py")]
    for name in folders:
        if name not in LISTED:
            fix = f'Write "{name}" into NAMES, at its place in the order of declaration.'
            if part_folder(name).parent != PART_FOLDERS[0]:
                fix = f"Write '- {name}' into it, at its place in the order of declaration."
            yield fault(*_listed_in(name), f"The part of parts/{name}/part.py is not listed.", fix)
    for name in dict.fromkeys(LISTED):
        if name not in folders:
            near = nearest(name, [each for each in folders if each not in LISTED])
            own = part_folder(name)
            other = nearest("part.py", [file.name for file in own.glob("*.py") if file.name != "plan.py"])
            fix = "Write the name of the part's folder, or remove the name."
            if near:
                fix = f"Did you mean '{near}'?"
            elif own.is_dir():
                fix = f"Rename parts/{name}/{other} to part.py." if other else "Write it, with PART = Part(…)."
            yield fault(*_listed_in(name), f"'{name}' is listed, and there is no parts/{name}/part.py.", fix)
        elif (part := listed_part(name)) is None:
            problem, fix = "The module has no constant PART of the class Part.", "Write PART = Part(…), as others do."
            yield fault(f"parts/{name}/part.py", "PART", problem, fix)
        elif part.name != name:
            problem = f"The part has the name '{part.name}', and its folder '{name}'."
            yield fault(f"parts/{name}/part.py", "name", problem, f'Write name="{name}".')
        if LISTED.count(name) > 1:
            yield fault(*_listed_in(name), f"'{name}' is listed more than once.", "Remove all but one.")


def hiding_faults(platform: Path, project: Path, listed: Sequence[str]) -> Iterator[Fault]:
    """Faults of a team's project whose files or parts clash with the platform's: packages that would hide the
    platform's packages, parts with a name that the platform has, and files that would be ignored.

    Args:
        platform: Folder of the platform's parts.
        project: Folder of the project.
        listed: Names in the project's list of parts.
    """
    if project / "parts" == platform:
        return
    for package in PACKAGES:
        if (project / package / "__init__.py").exists():
            problem = f"The file makes the folder a package, which would hide the platform's package {package}."
            fix = "Remove the file." if package == "parts" else "Give the folder another name."
            yield fault(f"{package}/__init__.py", "(file)", problem, fix)
    taken = {each.parent.name for each in platform.glob("*/__init__.py")}
    for name in listed:
        if name in taken:
            problem = f"The platform has a part '{name}' already."
            yield fault(f"parts/{LIST}", name, problem, "Remove the line; a part of your own needs another name.")
    for folder in sorted(each for each in project.glob("parts/*") if each.name in taken):
        for file in sorted(each.name for each in folder.iterdir() if not each.name.startswith(("_", "."))):
            if not file.endswith("-values.yaml"):
                problem = f"The platform has a part '{folder.name}', which this file does not replace."
                fix = "Give the folder another name. Beside the platform's part, it may have <chart>-values.yaml alone."
                yield fault(f"parts/{folder.name}/{file}", "(file)", problem, fix)


def _listed_in(name: str) -> tuple[str, str]:
    """File with the list that contains the part `name`, and the key to show in a fault: the part's name for the list of
    a team's project, `NAMES` for the platform's list.
    """
    own = name in TEAM or part_folder(name).parent != PART_FOLDERS[0]
    return (f"parts/{LIST}", name) if own else (REGISTRY, "NAMES")


def unmet_needs(parts: Sequence[Part]) -> Iterator[Fault]:
    """Faults of names in `Part.needs` that are unknown, or that are declared after the part: the part's release would
    not wait for a release that is declared later.
    """
    stages: dict[str, Stage] = {GPU_OPERATOR: "gpus", **{part.name: part.stage for part in parts}}
    order = [name for stage in get_args(Stage) for name, own in stages.items() if own == stage]
    for part in parts:
        file = _file(part, "part.py")
        for name in part.needs:
            if name not in order:
                near = nearest(name, order)
                fix = f"Did you mean '{near}'?" if near else f"One of: {', '.join(order)}."
                yield fault(file, "needs", f"'{name}' is not the name of a part.", fix)
            elif order.index(name) > order.index(part.name):
                in_stage = f'Write "{part.name}" after "{name}" into NAMES of {REGISTRY}.'
                fix = in_stage if stages[name] == part.stage else f'Write stage="{stages[name]}".'
                yield fault(file, "needs", f"'{name}' is declared after the part '{part.name}'.", fix)


def _faults(part: Part) -> Iterator[Fault]:
    for chart in part.charts:
        yield from _chart_faults(part, chart)
    for key, kind, names, known in (
        ("chart_images", "chart", part.chart_images, part.charts),
        ("floating_images", "chart with the image", part.floating_images, part_images(part)),
        ("privileged", "namespace", part.privileged, part.namespaces),
    ):
        for name in (each for each in names if each not in known):
            near = nearest(name, known)
            fix = f"Did you mean '{near}'?" if near else f"One of: {', '.join(known) or 'none'}."
            yield fault(_file(part, "part.py"), key, f"The part has no {kind} '{name}'.", fix)
    for document in manifests.namespaces_of(part.name):
        metadata = document["metadata"]
        labels: dict[str, Any] = metadata.get("labels") or {}
        level = labels.get(ENFORCE)
        if level not in LEVELS:
            where = f"{metadata['name']}: metadata.labels.{ENFORCE}"
            problem = f"'{level}' is not a Pod Security level." if level else "The namespace has no Pod Security level."
            fix = f"Write the first that its Pods can have: {', '.join(LEVELS)}."
            yield fault(_file(part, manifests.NAMESPACES), where, problem, fix)
        elif level == "privileged" and metadata["name"] not in part.privileged:
            problem = f"The namespace {metadata['name']} is at the level privileged without a reason."
            fix = f'Write privileged={{"{metadata["name"]}": "what its Pods need of the node"}}, or another level.'
            yield fault(_file(part, "part.py"), "privileged", problem, fix)


def _chart_faults(part: Part, chart: str) -> Iterator[Fault]:
    pinned = {name for name, _ in pinned_charts()}
    if chart not in pinned:
        path = part_folder(part.name) / PINS
        own = [str(row.get("name")) for row in read_rows(path)] if path.exists() else []
        near = nearest(chart, (name for name in own if name not in part.charts))
        fix = "Write a row: name, repository, organisation, licence, and versions with version, known, source and date."
        fix = f"Did you mean '{near}', which is pinned there?" if near else fix
        yield fault(_file(part, PINS), chart, f"The chart of {_file(part, 'part.py')} is not pinned.", fix)
        return
    if chart not in {**chart_images(), **part.chart_images}:
        fix = "Write the images that its Pods can have, each with its registry, as chart_images of the part."
        yield fault(_file(part, "part.py"), "chart_images", f"The images of the chart {chart} are not named.", fix)
    file = _file(part, f"{chart}-keys.yaml")
    try:
        keys_file(chart)
    except CatalogError:
        fix = f"List the keys of its values.yaml, in the form of {FORM}."
        yield fault(file, chart, "The keys of the chart's values are not listed.", fix)
        return
    read = keys_read(chart)
    for pin in (each for each in pinned_charts().values() if each.name == chart):
        if (pin.keys.version if pin.keys else pin.version) not in read:
            fix = f"Write read: [{pin.version}] once you have read them, or keys with version and reason into {PINS}."
            problem = f"The keys were read at {', '.join(sorted(read))}, and {pin.version} is pinned."
            yield fault(file, "read", problem, fix)
    table = key_table(chart, newest_chart(chart).version)
    for path in (each for each in part.owned[chart] if "*" not in each and not table.has(each)):
        near = nearest(path, table.known)
        fix = f"Did you mean '{near}'?" if near else f"Write a key of {file}, or add it there."
        yield fault(_file(part, "part.py"), "owned", f"The chart {chart} has no key {path}.", fix)


def _open(part: Part) -> Iterator[Fault]:
    for file, number, key, text in open_lines(part_folder(part.name)):
        yield fault(_file(part, file), key, TO_BE_WRITTEN, text, line=number)


def open_lines(folder: Path) -> Iterator[tuple[str, int, str, str]]:
    """Lines of a part's files with a text that is still to be replaced: file, line number, key, and the text."""
    for file in sorted(each for each in folder.iterdir() if each.is_file()):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if (start := line.find(OPEN)) >= 0:
                text = line[start:].partition("›")[0].removeprefix(OPEN)
                key = re.search(r"(\w+)[:=]", line[:start])
                yield file.name, number, key[1] if key else "text", text


def _file(part: Part, name: str) -> str:
    return f"parts/{part.name}/{name}"
