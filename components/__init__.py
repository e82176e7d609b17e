"""What the program declares: one component resource a file, composed by `components.platform`."""
