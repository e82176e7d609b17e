"""`physai obtain`: which fallback is taken, what its price is, and what is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from physical_ai.findings import Severity
from physical_ai.settings import Overlay, Settings, SettingsError, load
from simulator.azure.state import AzureState
from tests.unit.conftest import Simulate
from workbench.cli import azure_login
from workbench.cli.main import run
from workbench.cli.simulated_capacity import SimulatedCapacity
from workbench.preflight import SizeOffer, Unanswered, Usage
from workbench.preflight.capacity import Price, Question, choices
from workbench.preflight.obtaining import Decision, decide, layer

H100, TWO = "Standard_NC40ads_H100_v5", "Standard_NC80adis_H100_v5"
FAMILY = "standardNCadsH100v5Family"
FALLBACKS: list[dict[str, Any]] = [{"priority": "Regular"}, {"sku": TWO, "priority": "Regular"}]
HOURLY = 6.98


class Subscription:
    """What Azure answers: all sizes, and these quotas."""

    def __init__(self, spot: int = 0, family: int = 0, offers: Mapping[str, SizeOffer] | None = None) -> None:
        self._free, self._offers = {"lowPriorityCores": spot, FAMILY: family}, offers

    def usages(self, region: str) -> Mapping[str, Usage]:
        assert region in ("westus2", "westeurope")
        return {name: Usage(0, limit) for name, limit in {"cores": 1000, **self._free}.items()}

    def sizes(self, region: str) -> Mapping[str, SizeOffer]:
        if self._offers is not None:
            return self._offers
        return {
            H100: SizeOffer(FAMILY, 40, 1, True, ("1",)),
            TWO: SizeOffer(FAMILY, 80, 2, True, ("1",)),
        }


class Silent(Subscription):
    def usages(self, region: str) -> Mapping[str, Usage]:
        raise Unanswered("usages: 403")


def settings(fallbacks: list[dict[str, Any]], stack: str = "dev-westus2", **pool: Any) -> Settings:
    return load(stack, [Overlay("test", {"pools": {"h100gpu": {**pool, "fallbacks": fallbacks}}})]).settings


def decision(azure: Subscription | None, fallbacks: list[dict[str, Any]] | None = None, **options: Any) -> Decision:
    others = options.pop("others", {})
    question = Question(settings(fallbacks or FALLBACKS), azure, others, options.pop("spot_factor", None))
    return decide(question, "h100gpu", **{"accepts_price": False, **options})


def states(found: Decision) -> list[str]:
    return [each.state.value for each in found.choices]


def test_a_pool_that_can_be_had_stays_as_it_is() -> None:
    found = decision(Subscription(500, 500))
    assert (found.outcome, found.layer, found.settled) == ("as it is", {}, True)
    assert states(found) == ["ok", "ok", "ok"]


def test_without_quota_for_spot_the_regular_pool_needs_an_accepted_price() -> None:
    azure = Subscription(0, 500)
    found = decision(azure)
    assert states(found) == ["error", "ok", "ok"]
    assert (found.outcome, found.layer, found.settled) == ("price not accepted", {}, False)
    assert found.taken is not None
    assert found.difference(found.taken) == (0.0, pytest.approx(2 * HOURLY))
    accepted = decision(azure, accepts_price=True)
    assert (accepted.outcome, accepted.layer) == ("change", {"pools": {"h100gpu": {"priority": "Regular"}}})
    assert layer([accepted, found]) == {"pools": {"h100gpu": {"priority": "Regular"}}}


def test_a_known_share_of_the_price_makes_the_difference_exact() -> None:
    found = decision(Subscription(0, 500), spot_factor=0.25)
    current, regular, two = found.choices
    assert current.price == Price(HOURLY / 4, HOURLY / 4)
    assert found.difference(regular) == (pytest.approx(1.5 * HOURLY), pytest.approx(1.5 * HOURLY))
    assert found.difference(two) == (pytest.approx(3.5 * HOURLY), pytest.approx(3.5 * HOURLY))
    assert (regular.gpus, two.gpus) == (1, 2)


def test_spot_in_place_of_regular_never_costs_more() -> None:
    cheaper = settings([{"priority": "Spot"}, {"sku": TWO}], priority="Regular", sku=H100)
    azure = Subscription(500, 0)
    found = decide(Question(cheaper, azure, {}), "h100gpu", accepts_price=False)
    assert (found.outcome, found.layer) == ("change", {"pools": {"h100gpu": {"priority": "Spot"}}})
    assert found.difference(found.choices[1]) == (pytest.approx(-2 * HOURLY), 0.0)
    assert [found.may_cost_more(each) for each in found.choices] == [False, False, True]


def test_a_restriction_of_the_subscription_rules_a_size_out() -> None:
    offers = {
        H100: SizeOffer(FAMILY, 40, 1, True, (), "NotAvailableForSubscription"),
        TWO: SizeOffer(FAMILY, 80, 2, False, ()),
    }
    found = decision(Subscription(500, 500, offers), [{"sku": TWO}])
    assert states(found) == ["error", "error"]
    assert (found.outcome, found.taken) == ("nowhere", None)
    assert [each.problem for each in found.choices[1].findings if each.is_error] == [f"{TWO} can't be Spot."]


def test_other_zones_of_the_same_pool_cost_the_same() -> None:
    zoned = settings([{"zones": ["1"]}])
    azure = Subscription(500)
    found = decide(Question(zoned, azure, {}), "h100gpu", wanted=1, accepts_price=False)
    assert (found.outcome, found.layer) == ("change", {"pools": {"h100gpu": {"zones": ["1"]}}})
    assert found.difference(found.choices[1]) == (0.0, 0.0)


@pytest.mark.parametrize("azure", [None, Silent()])
def test_what_is_not_known_is_taken_only_by_name(azure: Subscription | None) -> None:
    assert decision(azure).outcome == "not known"
    assert states(decision(azure)) == ["unknown"] * 3
    assert decision(azure, wanted=1, accepts_price=True).outcome == "change"
    assert decision(azure, wanted=1).outcome == "price not accepted"


def test_another_stack_takes_work_where_osmo_gives_it_work() -> None:
    other = load("staging-westus2").settings
    azure = Subscription(0, 1000)
    fallbacks = [{"stack": "staging-westus2"}]
    question = Question(settings(fallbacks), azure, {"staging-westus2": other})
    (_, found) = choices(question, "h100gpu")
    assert found.state is Severity.ERROR
    assert "OSMO does not give work to staging-westus2" in found.findings[-1].problem
    served = other.model_copy(update={"osmo": other.osmo.model_copy(update={"backends": ("dev-westus2",)})})
    taken = decide(Question(settings(fallbacks), azure, {"staging-westus2": served}), "h100gpu", accepts_price=True)
    assert (taken.outcome, taken.layer, taken.settled) == ("elsewhere", {}, True)
    assert taken.taken is not None
    assert (taken.taken.stack, taken.taken.pool_name) == ("staging-westus2", "h100gpu")


def test_a_stack_without_such_a_gpu_takes_nothing() -> None:
    other = load("staging-westus2").settings
    rest = {name: pool for name, pool in other.pools.items() if name != "h100gpu"}
    without = other.model_copy(update={"pools": rest})
    for others, problem in (({"staging-westus2": without}, "has no pool with H100"), ({}, "can't be loaded")):
        question = Question(settings([{"stack": "staging-westus2"}]), Subscription(), others)
        assert problem in choices(question, "h100gpu")[1].findings[0].problem


@pytest.mark.parametrize(
    ("fallback", "path", "problem"),
    [
        ({"sku": "Standard_NC40ads_H100_v6"}, "sku", "is not a VM size"),
        ({"sku": "Standard_D8s_v5"}, "sku", "has no GPU"),
        ({"sku": "Standard_NC144ds_xl_RTXPRO6000BSE_v6"}, "", "needs a GRID driver"),
        ({"stack": "dev-westus2"}, "stack", "its own fallback"),
        ({"stack": "mars"}, "stack", "mars"),
        ({"stack": "staging-westus2", "sku": TWO}, "", "exclude each other"),
        ({}, "", "Write at least one of"),
    ],
)
def test_a_fallback_that_could_not_be_deployed_is_refused(fallback: dict[str, Any], path: str, problem: str) -> None:
    with pytest.raises(SettingsError) as refused:
        settings([{"priority": "Regular"}, fallback])
    where = f"pools.h100gpu.fallbacks[1]{'.' if path else ''}{path}"
    assert any(each.where.endswith(where) or where in each.where for each in refused.value.faults)
    assert problem in str(refused.value)


def call(*arguments: str) -> int:
    return run(["obtain", "dev-westus2", "--set", f"pools.h100gpu.fallbacks={json.dumps(FALLBACKS)}", *arguments])


def test_the_change_is_a_layer_that_the_stack_loads_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "change.yaml"
    assert call("--offline", "--fallback", "2", "--accept-price", "-o", str(file)) == 0
    told = capsys.readouterr().err
    assert "nothing was changed" in told
    origin = next(row.origin for row in load("dev-westus2").explain("pools.h100gpu.priority"))
    assert f"- pools.h100gpu.priority: Spot  ({origin})\n+ pools.h100gpu.priority: Regular\n" in told
    assert "USD per hour, with 2 nodes." in told
    assert "USD per hour, with 2 nodes." in file.read_text(), "the file says what it may cost"
    changed = load("dev-westus2", [Overlay.read(file)]).settings.pools["h100gpu"]
    assert (changed.sku, changed.priority) == (TWO, "Regular")
    assert call("--offline", "--fallback", "2", "--accept-price", "-o", str(file)) == 2
    assert "exists already" in capsys.readouterr().err


def test_a_deployment_never_moves_to_a_fallback(simulate: Simulate) -> None:
    plain, named = (simulate("dev-westus2", {"pools": {"h100gpu": {"fallbacks": each}}}) for each in ([], FALLBACKS))
    assert [(each.urn, each.inputs) for each in named.resources] == [
        (each.urn, each.inputs) for each in plain.resources
    ]
    pool = named.resource("AgentPool", "physical-ai-h100gpu-nodes").inputs
    assert (pool["vmSize"], pool["scaleSetPriority"]) == (H100, "Spot")


def test_work_for_a_more_expensive_pool_of_another_stack_needs_an_accepted_price() -> None:
    dearer = settings([], "prod-westeurope")
    here = settings([{"stack": "prod-westeurope"}]).model_copy()
    here = here.model_copy(update={"osmo": here.osmo.model_copy(update={"backends": ("prod-westeurope",)})})
    question = Question(here, Subscription(0, 1000), {"prod-westeurope": dearer})
    found = decide(question, "h100gpu", wanted=1, accepts_price=False)
    assert found.outcome == "price not accepted"
    assert not found.settled


def test_no_change_that_may_cost_more_is_written_without_an_accepted_price(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "change.yaml"
    assert call("--offline", "--fallback", "1", "-o", str(file)) == 3
    captured = capsys.readouterr()
    assert not file.exists()
    assert "+13.96" in captured.out
    assert "--accept-price" in captured.err


def test_the_document_has_all_choices(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    azure = Subscription(0, 500)
    monkeypatch.setattr(azure_login, "azure_of_login", lambda subscription: (SimpleNamespace(azure=azure), None))
    assert call("--json", "--accept-price") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["change"] == {"pools": {"h100gpu": {"priority": "Regular"}}}
    (difference,) = found["differences"]
    assert (difference["path"], difference["before"], difference["after"]) == (
        "pools.h100gpu.priority",
        "Spot",
        "Regular",
    )
    (pool,) = found["pools"]
    assert (pool["outcome"], pool["taken"]) == ("change", 1)
    assert [each["state"] for each in pool["choices"]] == ["error", "ok", "ok"]
    assert [each["mayCostMore"] for each in pool["choices"]] == [False, True, True]


def test_the_change_without_a_file_is_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--offline", "--fallback", "1", "--accept-price") == 0
    written = capsys.readouterr().out.partition("# For dev-westus2")[2].partition("\n")[2]
    assert written.startswith("# h100gpu: +0.00 … +13.96 USD per hour, with 2 nodes.\n")
    assert yaml.safe_load(written) == {"pools": {"h100gpu": {"priority": "Regular"}}}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--pool", "a100gpu"], "has no pool 'a100gpu'"),
        (["--pool", "rtxprogpu"], "pools.rtxprogpu.fallbacks"),
        (["--fallback", "3"], "h100gpu has no fallback 3"),
        (["--offline", "--simulated"], "exclude each other"),
        (["--offline", "--spot-factor", "2"], "at most 1"),
        (["--offline", "--fallback", "1", "--accept-price", "-o", "/nowhere/a.yaml"], "can't be written"),
    ],
)
def test_a_wrong_command_line_is_refused(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*arguments) == 2
    assert problem in " ".join(capsys.readouterr().err.split())


def test_the_simulated_azure_answers_with_its_limits_and_the_catalogues_sizes() -> None:
    azure = SimulatedCapacity(AzureState({}, quota={"lowPriorityCores": 0, "*": 500}))
    found = decide(Question(settings(FALLBACKS), azure, {}), "h100gpu", accepts_price=True)
    assert states(found) == ["error", "ok", "ok"]
    assert found.outcome == "change"


def test_a_stack_without_a_simulation_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PHYSAI_HOME", str(tmp_path))
    assert call("--simulated") == 1
    assert "physai up dev-westus2" in capsys.readouterr().err
