"""The pages of the inspector, one module a topic.

- `page`: a page: its address, and who may open it
- `entrance`: sign in, sign out
- `tenants`: the tenants and the health of one
- `people`: subjects, and one subject in several views
- `memory_page`: one memory: its sources, history and future
- `playground`: recall by two policies side by side, and the context as a model sees it
- `amending`: correct, replace, forget, pin, undo, retract
- `erasing_page`: what an erasure would delete, and the erasure
- `ledgers`: runs, costs, dead letters, receipts
- `attention`: conflicts, triggers, and messages that a person should look at
- `versions`: generations: compare, publish, revert
"""
