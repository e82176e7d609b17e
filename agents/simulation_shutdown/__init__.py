"""Ends Isaac Sim runs that would hang while they close.

    from simulation_shutdown import exit_now, prepare_for_shutdown

    prepare_for_shutdown(timeout=30)
    env.close()
    exit_now(0)                             # never simulation_app.close()

Linux, Python 3.10 or newer, standard library only. Isaac is never imported; only loaded modules are inspected.
"""

from __future__ import annotations

from .handle import Shutdown, exit_now, prepare_for_shutdown

__all__ = ["Shutdown", "exit_now", "prepare_for_shutdown"]
__version__ = "0.1.0"
