"""Packages of an SDK that load their modules on demand have the names of those that load all of them."""

from __future__ import annotations

import subprocess
import sys

PACKAGE = "pulumi_azure_native.authorization"
CHECK = f"""
import importlib, sys
from simulator.sdk_packages import load_on_demand
load_on_demand("{PACKAGE}")
from pulumi_azure_native import authorization as lazy
assert lazy.RoleAssignment.__module__ == "{PACKAGE}.role_assignment"
assert callable(lazy.get_client_config) and callable(lazy.get_client_config)
assert "{PACKAGE}.policy_definition" not in sys.modules
from pulumi_azure_native.authorization import outputs
assert outputs.__name__ == "{PACKAGE}.outputs"
assert not hasattr(lazy, "Nothing")
load_on_demand("{PACKAGE}")
assert sys.modules["{PACKAGE}"] is lazy
found = {{name: getattr(lazy, name) for name in sys.argv[1].split()}}
del sys.modules["{PACKAGE}"]
eager = importlib.import_module("{PACKAGE}")
print([name for name, value in found.items() if getattr(eager, name) is not value])
"""


USED = f"""
import sys
from simulator.sdk_packages import load_on_demand, load_used
load_on_demand("{PACKAGE}")
from components.azure import roles
assert "{PACKAGE}.role_assignment" not in sys.modules
load_used(roles)
print(sorted(name for name in sys.modules if name in ("{PACKAGE}.role_assignment", "{PACKAGE}.policy_definition")))
"""


def test_what_a_component_names_is_loaded_and_nothing_else() -> None:
    ran = subprocess.run([sys.executable, "-c", USED], check=False, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, f"['{PACKAGE}.role_assignment']\n"), ran.stderr


IMPORTED = f"""
from pulumi_azure_native import authorization as imported
from simulator.sdk_packages import load_on_demand
load_on_demand("{PACKAGE}")
from pulumi_azure_native import authorization
assert authorization is imported
print(imported.RoleAssignment.__name__)
"""


def test_what_others_have_imported_remains_the_package() -> None:
    ran = subprocess.run([sys.executable, "-c", IMPORTED], check=False, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "RoleAssignment\n"), ran.stderr


NAMES = """
RoleAssignment RoleAssignmentArgs PrincipalType get_role_assignment PolicyDefinition ApprovalMode
get_client_config_output
"""


def test_every_public_name_is_the_same() -> None:
    ran = subprocess.run([sys.executable, "-c", CHECK, NAMES], check=False, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "[]\n"), ran.stderr
