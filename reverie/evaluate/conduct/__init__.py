"""How memory performs in use, read from a tenant's log: no questions are asked and no judge is needed.

- `utilisation`: the share of injected items that the reply used
- `repeats`: repeated questions
- `rates`: observation rate, correction rate, and accuracy against corrections
- `truth`: agreement of learned profiles with true ones
- `growth`: how the keys of a subject grow with its sessions
"""
