"""`python -m cli` is `physai`."""

from cli.main import main

main()
