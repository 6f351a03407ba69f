"""Memory's offers to an assistant besides answers (docs/assisting.md).

- `asking`: a message of the person, with the information that every offer needs first
- `tools`: tools for a message, by the outcomes of their use in similar situations
- `lessons`: lessons of other sessions for a message
- `inbox`: items of an inbox, ranked by their importance to the person
- `states`: the feed of subjects' states
"""
