"""Exports of other systems as records under our field names, one module a format.

archive         a directory or zip of JSON files: their names, and their content, never unpacked to disk
array           one JSON array, read item by item
chatgpt         ChatGPT's conversations.json: the branch that the user last saw
detection       tells the format by looking at the first record
messages        a list of chat messages a record: fine-tuning files, logs of chat completions
slack           Slack's export: a folder a channel, a file a day
"""
