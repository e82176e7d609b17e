"""Records what a GPU machine is, for the time when it is gone."""
