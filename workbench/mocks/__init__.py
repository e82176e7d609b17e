"""Run of the program under Pulumi's mocks, with every declared resource recorded."""
