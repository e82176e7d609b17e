"""Command `python -m simulator.controllers --kubeconfig FILE`, which runs all simulated controllers of a cluster."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from simulator.amd import AmdStack
from simulator.cert_manager import CertManager
from simulator.cleanup import Cleanup
from simulator.clock import seconds_per_model_minute
from simulator.controllers.gpu_stack import GpuStack
from simulator.kubernetes.client import Client
from simulator.loaded_code import note
from simulator.metrics.server import serve
from simulator.network_operator.live import NetworkOperator
from simulator.nvsentinel.live import loop_of
from simulator.operators.live import Operators
from simulator.operators.pulls import Pulls
from simulator.operators.vault_secrets import VaultSecrets
from simulator.osmo.control.live import ControlPlane
from simulator.runners import RunnerController
from simulator.scheduling import live as scheduling
from simulator.slurm import SlurmOperator
from simulator.subscription import AZURE_FILE
from simulator.volumes import Volumes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--simulation", type=Path, required=True, help="folder of the simulation")
    parser.add_argument("--slots", type=Path, required=True, help="which cluster of Azure has which control plane")
    parser.add_argument("--caught-up", type=Path, required=True, help="file to create after the first complete round")
    parser.add_argument("--code", type=Path, required=True, help="file to note what this process has loaded in")
    given = parser.parse_args()
    note(given.code)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    plane = given.kubeconfig.resolve().parent
    Client(given.kubeconfig).wait_until_serving()
    scheduling.start(Client(given.kubeconfig), plane, given.slots, given.simulation)
    control = ControlPlane(Client(given.kubeconfig), plane, given.simulation)
    control.loop.start()
    vaults = VaultSecrets(Client(given.kubeconfig), given.simulation / AZURE_FILE)
    pulls = Pulls(Client(given.kubeconfig), given.simulation / AZURE_FILE)
    Operators(
        Client(given.kubeconfig), control.agents.refusal, vaults.mount_problem, plane, unpulled=pulls.problem
    ).loop.start()
    loop_of(Client(given.kubeconfig)).start()
    NetworkOperator(Client(given.kubeconfig)).loop.start()
    AmdStack(Client(given.kubeconfig), 60 / seconds_per_model_minute()).loop.start()
    Volumes(Client(given.kubeconfig)).loop.start()
    CertManager(Client(given.kubeconfig), given.simulation / AZURE_FILE).loop.start()
    RunnerController(Client(given.kubeconfig)).loop.start()
    SlurmOperator(Client(given.kubeconfig)).loop.start()
    Cleanup(Client(given.kubeconfig)).loop.start()
    stack = GpuStack(
        Client(given.kubeconfig), 60 / seconds_per_model_minute(), given.caught_up.touch, given.kubeconfig.parent
    )
    serve(stack.exporters().answer, given.kubeconfig.parent)
    stack.loop.run()


if __name__ == "__main__":
    main()
