"""Azure's own verdict on what a stack declares, before anything is created: ARM's validation and what-if.

The declared resources are turned into deployment templates, which ARM checks with the caller's login without deploying
anything.
"""
