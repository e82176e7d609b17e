"""Component resources that the program declares, one per file, composed by `components.platform`."""
