"""How memory does in use, read from a tenant's log: nothing is asked and no judge is needed.

- `utilisation`: whether what was injected was used in the reply
- `repeats`: questions that are asked again
- `rates`: observations, corrections and what was wrong, as rates
- `truth`: agreement of learned profiles with true ones
- `growth`: how the keys of a subject grow with its sessions
"""
