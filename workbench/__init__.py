"""The workbench: the command `physai`, and the judgements behind it."""
