"""The pages of the inspector, one module for each topic.

- `page`: a page: its address and the scope that it needs
- `entrance`: sign in, sign out
- `tenants`: the tenants, and the health of one
- `people`: subjects, and one subject in several views
- `memory_page`: one memory: its sources, history and future
- `playground`: recall by two policies side by side, and the context for a model
- `amending`: correct, replace, forget, pin, undo, retract
- `erasing_page`: the preview of an erasure, and the erasure
- `ledgers`: runs, costs, dead letters, receipts
- `attention`: conflicts, triggers, and messages that a person should look at
- `versions`: generations: compare, publish, revert
"""
