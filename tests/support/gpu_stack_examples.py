"""Random GPU pools as settings describe them, with any versions, drivers and sharing."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from physical_ai.catalog import mig_models, operator_releases, vm_size, vm_sizes
from physical_ai.catalog.gpu_lookup import builds
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.settings import DriverSource
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts import pools as facts

GPU_SIZES = sorted(size.name for size in vm_sizes().values() if size.gpu and not size.is_retired)

RETIRED = sorted(size.name for size in vm_sizes().values() if size.gpu and size.is_retired)

PROFILES = sorted({name for model in mig_models().values() for name in model.profiles})

KNOWN = list(operator_releases())

DRIVERS = [*builds("datacenter"), *builds("grid"), "580", "595", "700.10.01"]

SOURCES = [source.value for source in DriverSource]

replicated = st.fixed_dictionaries(
    {"replicas": st.one_of(st.integers(2, 9), st.integers(-1, 128))},
    optional={"rename": st.booleans(), "failRequestsGreaterThanOne": st.booleans()},
)

parameters = st.dictionaries(
    st.sampled_from(["nvidia-uvm", "nvidia", "nvidia_uvm"]),
    st.dictionaries(
        st.sampled_from(["uvm_disable_hmm", "no name"]), st.sampled_from(["1", "1", "", "a\nb"]), max_size=2
    ),
    max_size=1,
)


def sometimes(strategy: st.SearchStrategy[Any], otherwise: Any = None) -> st.SearchStrategy[Any]:
    """Returns the plain value in 19 of 20 draws, so that a stack rarely has more than one odd setting."""
    return st.integers(0, 19).flatmap(lambda roll: strategy if roll == 7 else st.just(otherwise))


@st.composite
def pools(draw: st.DrawFn, index: int) -> dict[str, Any]:
    size = vm_size(draw(st.one_of(st.sampled_from(GPU_SIZES), sometimes(st.sampled_from(RETIRED), GPU_SIZES[0]))))
    source = draw(sometimes(st.sampled_from(SOURCES), size.driver_sources[draw(st.integers(0, 1)) - 1]))
    own = mig_models().get(size.gpu.model) if size.gpu and size.mig else None
    profile = draw(
        sometimes(st.just(st.sampled_from(PROFILES)), st.sampled_from(sorted(own.profiles) if own else ["x"]))
    )
    mig = st.fixed_dictionaries(
        {
            "strategy": st.sampled_from(["single", "mixed"]),
            "profiles": st.dictionaries(profile, st.sampled_from([1, 1, 2, 3, 7]), max_size=2),
        }
    )
    likely = ["mps", "mig"] if own else []
    way = draw(
        sometimes(st.sampled_from(["mps", "mig", "any"]), draw(st.sampled_from(["none", "timeSlicing", *likely])))
    )
    ways = {"timeSlicing": replicated, "mps": replicated, "mig": mig}
    sharing = st.fixed_dictionaries({}, optional=ways) if way == "any" else st.just({})
    return {
        "sku": size.name,
        "driver": {
            "source": source,
            "version": draw(sometimes(st.sampled_from(DRIVERS))),
            "moduleType": draw(sometimes(st.sampled_from(["auto", "open", "proprietary"]))),
            "moduleParameters": draw(sometimes(parameters, {})),
        },
        "osSku": draw(sometimes(st.sampled_from(["Ubuntu2204", "AzureLinux"]), "Ubuntu")),
        "priority": draw(st.sampled_from(["Regular", "Spot"])),
        "secureBoot": draw(sometimes(st.just(True), False)),
        "scale": {"count": draw(st.integers(0, 3))},
        "subnet": f"10.40.{index + 10}.0/24",
        "labels": draw(sometimes(st.dictionaries(st.sampled_from(LABELS), st.just("x"), max_size=1), {})),
        "taints": draw(st.lists(st.sampled_from(["team=a:NoSchedule", "b=c:NoExecute"]), unique=True)),
        "sharing": {way: draw(ways[way])} if way in ways else draw(sharing),
    }


LABELS = [DRIVER_LABEL, facts.DEPLOY_DRIVER_LABEL, gpu_facts.MIG_CONFIG_LABEL, "example.com/team"]


@st.composite
def stacks(draw: st.DrawFn) -> dict[str, Any]:
    """Settings over those of dev-westus2, with random pools in place of its two."""
    precompiled = draw(sometimes(st.just(True), False))
    build = draw(sometimes(st.sampled_from(DRIVERS), "580" if precompiled else "580.173.02"))
    return {
        "cluster": {"kubernetesVersion": draw(sometimes(st.sampled_from(["1.32", "1.34", "1.35", "1.37"]), "1.36"))},
        "gpuOperator": {
            "version": draw(st.one_of(st.sampled_from(KNOWN), sometimes(st.just("v27.1.0"), KNOWN[-2]))),
            "driver": {"version": build, "precompiled": precompiled},
            "driverOwner": draw(st.sampled_from(["NVIDIADriver", "ClusterPolicy"])),
            "toolkit": {"runtimeConfigSource": draw(st.sampled_from(["file", "command,file"]))},
            "cdi": draw(st.booleans()),
            "nri": draw(sometimes(st.just(True), False)),
            "migStrategy": draw(st.sampled_from([None, None, None, "", "single", "none", "mixed"])),
        },
        "record": draw(sometimes(st.just(True), False)),
        "pools": {
            "h100gpu": None,
            "rtxprogpu": None,
            **{f"p{index}": draw(pools(index)) for index in range(draw(st.integers(1, 3)))},
        },
    }
