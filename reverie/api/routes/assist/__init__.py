"""What memory offers an assistant beside answers (docs/assisting.md).

- `tools`: tools for a message
- `lessons`: what other sessions taught
- `inbox`: items of an inbox in the order in which they matter
- `states`: the feed of subjects' states
"""
