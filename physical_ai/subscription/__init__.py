"""Azure's answers about one subscription before a deployment, and what they mean for a stack.

Requests are in `rest`, and answers in `answers`; the other modules compare answers with settings, and ask nothing.
"""
