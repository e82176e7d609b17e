"""Any sharing of GPUs: coherent settings, or a fault with a path."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from physical_ai.catalog import mig_models, vm_size, vm_sizes
from physical_ai.settings import Fault, Loaded, Overlay, SettingsError, load
from physical_ai.settings.facts import gpu as gpu_facts
from tests.support.examples import examples

SIZES = [size for size in vm_sizes().values() if size.gpu and not size.is_retired]

quick = examples(150)


@st.composite
def sharings(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A size, and any way of sharing its GPUs that has the right shape."""
    size = draw(st.sampled_from(SIZES))
    replicated = st.fixed_dictionaries({"replicas": st.integers(2, 9)}, optional={"rename": st.booleans()})
    profiles = sorted({name for model in mig_models().values() for name in model.profiles})
    own = mig_models().get(size.gpu.model) if size.gpu else None
    chosen = st.sampled_from(sorted(own.profiles)) if own and draw(st.booleans()) else st.sampled_from(profiles)
    mig = st.fixed_dictionaries(
        {
            "strategy": st.sampled_from(["single", "mixed"]),
            "profiles": st.dictionaries(chosen, st.integers(1, 7), max_size=2),
        }
    )
    sharing = st.fixed_dictionaries({}, optional={"timeSlicing": replicated, "mps": replicated, "mig": mig})
    return size.name, draw(sharing)


def outcome(overlay: Overlay) -> Loaded | list[Fault]:
    try:
        return load("dev-westus2", [overlay])
    except SettingsError as error:
        return error.faults


@quick
@given(sharings())
def test_any_sharing_is_coherent_or_refused_with_a_path(case: tuple[str, dict[str, Any]]) -> None:
    size, sharing = case
    source = vm_size(size).driver_sources[0]
    data = {"sku": size, "driver": {"source": source}, "subnet": "10.40.9.0/24", "scale": {"count": 1}}
    overlay = Overlay("--set", {"pools": {"p": {**data, "sharing": sharing}}})
    found = outcome(overlay)
    if not isinstance(found, Loaded):
        assert found
        assert all(fault.where.startswith("pools.p.") for fault in found)
        return
    settings, chosen = found.settings, found.settings.pools["p"]
    mig, gpu = chosen.sharing.mig, vm_size(size).gpu
    assert gpu is not None
    assert not (chosen.sharing.mps and (mig or chosen.sharing.time_slicing or gpu.host_mig))
    if mig:
        assert not gpu.virtual
        assert sum(int(profile[0]) * count for profile, count in mig.profiles.items()) <= 7
        assert len(mig.profiles) == 1 or mig.strategy == "mixed"
    resources = gpu_facts.gpu_resources(chosen)
    assert all(count >= gpu.count for count in resources.values())
    strategies = {gpu_facts.pool_mig_strategy(item) for item in settings.pools.values()}
    assert (gpu_facts.mig_strategy(settings) == "") == (len(strategies) > 1)
