"""The program run under Pulumi's mocks, with every resource that it declares recorded."""
