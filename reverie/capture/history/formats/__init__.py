"""Exports of other systems as records under our field names.

- `detection`: the format of a file by its first record
- `array`: one JSON array, read item by item
- `messages`: a list of chat messages a record: fine-tuning files, logs of chat completions
- `chatgpt`: ChatGPT's conversations.json: the branch that the user last saw
- `slack`: Slack's export: a folder a channel, a file a day
- `archive`: a directory or zip of JSON files, read in place
"""
