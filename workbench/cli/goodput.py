"""Sources of an estimate of useful GPU time: settings, rates, and the records of a cluster or a recording."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.console import err
from workbench.goodput.changes import changes, unwritten
from workbench.goodput.document import PoolResult
from workbench.goodput.estimate import Estimate, estimate
from workbench.goodput.own_records import CONFIG_MAPS, PoolRecords, read_records, with_records
from workbench.goodput.pools import NotCounted, PoolLoad, notes, pool_loads, with_new_node
from workbench.goodput.rates import Rates, assumed, known_rates
from workbench.goodput.simulation import Year
from workbench.goodput.simulation.state_file import StateFile

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from workbench.cli.recorded import Recorded

KEPT_EVERY = 5.0
"""Seconds between two writes of the state of a simulation."""
PIECE = 20_000
"""Number of events between two looks at the clock."""


class NoLoad(ValueError):
    """Error for a stack of which no GPU pool can be calculated; the text has what to write."""


class Stopped(Exception):
    """Raised if a simulation was interrupted. Its state is kept where the command line names a file."""


@dataclass(frozen=True)
class Asked:
    """Options of the command line, and the settings of the stack."""

    settings: Settings
    assume: Sequence[str]
    simulate: bool
    days: int
    seed: int
    state: Path | None


def results(
    asked: Asked, recorded: Recorded | None, kubeconfig: Path | None, context: str | None
) -> tuple[list[PoolResult], list[NotCounted]]:
    """Results of all GPU pools with a usual load, and the pools that cannot be calculated.

    Raises:
        NoLoad: no pool can be calculated.
        BadAssumption, BadState: a value or a file of the command line is wrong.
        Stopped: a signal interrupted a simulation.
    """
    loads, without = pool_loads(asked.settings)
    if not loads:
        lines = [each.problem for each in without] or ["the stack has no GPU pool, and so no GPU time"]
        where = f"Write it in stacks/Pulumi.{asked.settings.stack}.yaml or a layer, or add it with --set or --file."
        raise NoLoad("\n  ".join([*lines, where] if without else lines))
    today = datetime.datetime.now(datetime.UTC).date()
    known = assumed(with_new_node(known_rates()), asked.assume, today)
    chosen = {each.partition("=")[0] for each in asked.assume}
    records = _records(asked, recorded, kubeconfig, context, [each.name for each in loads])
    state = StateFile(asked.state)
    found: list[PoolResult] = []
    for load in loads:
        own = None if records is None else records.get(load.name)
        rates = _corrected(known, own, load, chosen)
        middle = estimate(load, rates)
        year = _simulated(middle, asked, state) if asked.simulate else None
        worth = changes(middle, rates)
        found.append(PoolResult(middle, rates, worth, unwritten(middle, rates), notes(load, rates), own, year))
    return found, without


def _corrected(known: Rates, own: PoolRecords | None, load: PoolLoad, chosen: set[str]) -> Rates:
    """The rates with a cluster's records. A value of the command line outranks the records."""
    if own is None:
        return known
    corrected = with_records(known, own, load.gpus)
    return {name: known[name] if name in chosen else corrected[name] for name in known}


def _records(
    asked: Asked, recorded: Recorded | None, kubeconfig: Path | None, context: str | None, pools: Sequence[str]
) -> Mapping[str, PoolRecords] | None:
    from physical_ai.readiness import Unreachable
    from physical_ai.readiness.reader import listed
    from workbench.cli.cluster_gates import real_cluster

    if recorded is not None:
        from workbench.recordings.cluster import reader

        get = reader(recorded.recording)
    elif kubeconfig is not None:
        get = real_cluster(kubeconfig, asked.settings, context).get
    else:
        return None
    try:
        return read_records(listed(get, CONFIG_MAPS), pools)
    except Unreachable as problem:
        err.print(
            f"the cluster's records of machines and repairs are not read ({problem}); the published rates count",
            markup=False,
            style="yellow",
        )
        return None


def _simulated(found: Estimate, asked: Asked, state: StateFile) -> Year:
    """The simulation of a pool at the likely rates, continued from the state file."""
    name = found.pool.name
    year = state.year(name, found.likely, asked.seed, asked.days * 24.0)
    kept = time.monotonic()
    try:
        while not year.run(PIECE):
            if time.monotonic() - kept > KEPT_EVERY:
                state.keep(name, year)
                kept = time.monotonic()
    except KeyboardInterrupt:
        # The interrupt may have come in the middle of an event: what was kept last is whole.
        where = "is continued from its last state" if asked.state else "begins again; --state FILE would keep it"
        err.print(f"stopped at day {year.now / 24:.0f} of {asked.days} of {name}; the same command {where}")
        raise Stopped from None
    state.keep(name, year)
    return year
