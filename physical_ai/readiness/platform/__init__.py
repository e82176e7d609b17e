"""What a stack installs into its cluster, compared with what is there: what is missing, switched off or not available.

`parts` derives what should be there from the plans and from Helm's own records; `absence` compares, pure; `read` reads.
"""
