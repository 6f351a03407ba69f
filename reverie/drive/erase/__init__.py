"""Erase: delete turns and events, and all that was made of them, as if they had never been said.

- `erasing`: erases a turn, session, memory, subject or tenant in one database
- `replaying`: repeats the erasures of receipts in a restored database
- `targets`: the things that can be erased
- `read`: the turns, events and memories of a target
- `decide`: the corrections, dead letters and cached texts erased with them
- `copies`: removes the tenant's generations
- `write`: deletes rows, and writes marks that keep them from coming back
"""
