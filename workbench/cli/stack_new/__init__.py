"""Questions and output of `stack new`."""
