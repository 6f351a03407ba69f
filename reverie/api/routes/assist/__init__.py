"""Routes that help an assistant beyond recall (docs/assisting.md).

- `tools`: tools for a message
- `lessons`: lessons of other sessions
- `inbox`: items of an inbox, most important first
- `states`: the feed of subjects' states
"""
