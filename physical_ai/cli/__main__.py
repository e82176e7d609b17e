"""`python -m physical_ai.cli` is `physai`."""

from physical_ai.cli.main import main

main()
