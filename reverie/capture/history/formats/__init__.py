"""Reads exports of other systems as records under Reverie's field names.

- `detection`: detects the format of a file by its first record
- `array`: a JSON array, read item by item
- `messages`: records with a list of chat messages: fine-tuning files, logs of chat completions
- `chatgpt`: ChatGPT's conversations.json: the current branch of each conversation
- `slack`: Slack's export: one folder per channel, one file per day
- `foreign`: exports of other systems by name
- `shapes`: the items of an export or API answer, whatever the shape of the file
- `remembered`: memories of mem0, OpenMemory, Zep, Graphiti and Letta
- `helpdesks`: conversations of Intercom, Zendesk and Claude
- `traces`: traces of LangSmith and Langfuse
- `archive`: a directory or zip of JSON files, read in place
"""
