"""Erase: what was said is gone from the log and from all that was made of it, as if it had never been said.

- `erasing`: erases a turn, session, memory, subject or tenant in one database
- `replaying`: erases again what receipts say, in a restored database
- `targets`: what is named to be erased
- `read`: the turns, events and memories that it means
- `decide`: corrections, dead letters and cached texts that go with them
- `copies`: generations of the tenant are removed
- `write`: deletes rows, and keeps marks by which nothing comes back
"""
