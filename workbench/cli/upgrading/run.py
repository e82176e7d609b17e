"""An upgrade of a project, as the version that it leads to does it: checked, reported, and written."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from physical_ai.input_errors import InputError
from physical_ai.releases import notes
from physical_ai.releases.versions import Version
from physical_ai.settings import SettingsError, existing, load
from physical_ai.settings.faults import Fault
from workbench.cli.new_project.pins import DISTRIBUTIONS, hashes_in, hashes_of_index
from workbench.cli.simulator_extra import has_simulator
from workbench.cli.upgrading import programs, project, texts
from workbench.cli.upgrading.programs import NoProgram, Program
from workbench.upgrade.judging import Journey, refusals
from workbench.upgrade.requirements import pinned_hashes
from workbench.upgrade.rewriting import rewritten
from workbench.upgrade.telling import Report, StackReport


class Refused(InputError):
    """Error for an upgrade that is not done. Its text has all reasons, each with advice."""


@dataclass(frozen=True)
class Upgrade:
    """A checked upgrade: its report, and the new texts of files by path."""

    report: Report
    texts: Mapping[str, str]


@dataclass(frozen=True)
class Wanted:
    """Command line of an upgrade."""

    wheels: Path | None
    stacks: Sequence[str]
    done: Sequence[str]
    previews: bool

    def options(self) -> list[str]:
        """The same options as arguments of a command line."""
        return [
            *(["--wheels", str(self.wheels)] if self.wheels is not None else []),
            *(word for stack in self.stacks for word in ("--stack", stack)),
            *(word for step in self.done for word in ("--done", step)),
            *([] if self.previews else ["--no-preview"]),
        ]


def prepared(folder: Path, new: Version, wanted: Wanted) -> Upgrade:
    """The upgrade of the project in a folder to the version that runs; nothing is written.

    Raises:
        NotUpgradable: the folder is no project that can be upgraded.
        NoPins: the new version's wheels are not found.
        Refused: the upgrade is not possible.
    """
    journey = Journey.of(project.pinned(folder), new, notes())
    names = _chosen(folder, wanted.stacks)
    reasons = list(refusals(journey, notes(), _states(names), wanted.done))
    if reasons:
        raise Refused("\n".join(reasons))
    changed = rewritten(project.settings_files(folder), journey.releases, new)
    if stops := [str(each) for each in changed.blocked if each.stops]:
        raise Refused("\n".join(stops))
    hashes = hashes_in(wanted.wheels, str(new)) if wanted.wheels is not None else hashes_of_index(str(new))
    old = _old_program(folder, journey.old, wanted.wheels)
    fresh, by_hand = texts.copied(folder, old if isinstance(old, Program) else None)
    found = {
        **fresh,
        **texts.named_versions(folder, journey.old, new),
        **texts.schemas(folder),
        **changed.texts,
        **texts.pins(folder, hashes, old if isinstance(old, Program) else None),
    }
    warnings = _loaded(folder, existing(folder / "stacks"), found)
    shown = _previews(folder, names, found, old, new) if wanted.previews else {}
    stacks = [StackReport(each, warnings[each], *shown.get(each, (None, ""))) for each in names]
    left = [each for each in changed.blocked if not each.stops]
    return Upgrade(Report(journey, changed.rewrites, left, sorted(found), stacks, by_hand), found)


def _chosen(folder: Path, wanted: Sequence[str]) -> list[str]:
    names = existing(folder / "stacks")
    if unknown := [each for each in wanted if each not in names]:
        raise Refused(f"There is no stack '{unknown[0]}'.\n  Stacks: {', '.join(names) or 'none'}.")
    return [each for each in names if not wanted or each in wanted]


def _states(stacks: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Outputs of the stacks that are deployed to the simulator, by the stack's name."""
    if not has_simulator():
        return {}
    from simulator.simulation import Simulation

    found = {stack: Simulation(stack) for stack in stacks}
    return {stack: each.outputs() for stack, each in found.items() if each.exists}


def _old_program(folder: Path, version: Version, wheels: Path | None) -> Program | str:
    """The program of the pinned version, or the reason why there is none."""
    if (found := programs.present(version)) is not None:
        return found
    hashes = pinned_hashes((folder / texts.REQUIREMENTS).read_text(encoding="utf-8"), DISTRIBUTIONS)
    if set(hashes) != set(DISTRIBUTIONS):
        return f"requirements.txt has no hashes of version {version}"
    try:
        return programs.obtained(version, hashes, wheels)
    except NoProgram as problem:
        return str(problem)


def _loaded(folder: Path, stacks: Sequence[str], found: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Warnings about the files of each stack by the version that runs, which loads the new texts in a copy.

    Raises Refused with each fault, file and line, if a stack does not load.
    """
    warnings: dict[str, tuple[str, ...]] = {}
    faults: dict[str, Fault] = {}
    with tempfile.TemporaryDirectory() as name:
        draft = Path(name).resolve() / folder.name
        project.copy(folder, draft, found)
        for stack in stacks:
            try:
                loaded = load(stack, root=draft / "stacks", values=draft / "values")
            except SettingsError as error:
                faults |= {str(each): each for each in error.faults}
                continue
            own = [each for each in loaded.warnings if (draft / each.file).is_file() and not each.stand_in]
            warnings[stack] = tuple(str(each) for each in own)
    if faults:
        raise Refused("\n".join(faults))
    return warnings


def _previews(
    folder: Path, stacks: Sequence[str], found: Mapping[str, str], old: Program | str, new: Version
) -> dict[str, tuple[Mapping[str, Any] | None, str]]:
    """Preview document of each stack, or None and the reason, by the stack's name."""
    if not isinstance(old, Program):
        return dict.fromkeys(stacks, (None, old))
    if not has_simulator():
        return dict.fromkeys(stacks, (None, "the simulator is not installed"))
    from workbench.cli.upgrading.previews import previews

    running = programs.present(new)
    assert running is not None, "the version that runs is on this machine"
    reports = previews(folder, stacks, found, old, running)
    return {name: (each.document, each.base_failed or each.head_failed) for name, each in reports.items()}


def finished(folder: Path, upgrade: Upgrade) -> None:
    """Writes the files of an upgrade. Raises Refused if one cannot be written; the project is then as it was."""
    try:
        project.write(folder, upgrade.texts)
    except OSError as problem:
        where = f"{problem.filename} cannot be written: " if problem.filename else ""
        raise Refused(f"{where}{problem.strerror or problem}\n  The project is as it was.") from None
