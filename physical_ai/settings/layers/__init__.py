"""The files that a stack is made of, and how they are laid over each other."""
