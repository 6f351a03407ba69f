"""From a question to an answer or a context.

- `recall`: the answer to a question, with a reason for every hit
- `query`: the query: its text, subject, time and limits
- `candidates`: items that may answer it, best first
- `question`: dates, speakers and sources that a question names
- `search`: the search statement
- `fresh/`: turns that are recalled before they are searchable
- `filters`: filters by connection, context type, source, tool, attachment and session
- `subject_cache`: the row of a subject that a recall needs, cached, so that a recall takes one statement
- `rerank`: the best candidates ranked by a cross-encoder
- `result`: the types of an answer
- `passes`: the passes over the ranked candidates, in their order
- `places/`: the decisions of each pass
- `staged`: facts first, then the nearest summaries
- `contexts/`: the context for a language model
- `profile`: the profile of a subject
- `facts`: structured facts, by key
- `scaffold`: the free-form part of a profile
- `connections`: cached tools of connections, and learned information about them
- `relationship`: the stage of the relationship
- `inspect`: the full explanation of one memory
- `browse`: memories, entities and graph, page by page
- `conflicts`: pairs of memories that cannot both hold
- `assist/`: tools, lessons, inboxes and states for an assistant
- `signals/`: reasons to act for a subject, and its figures
- `roster`: subjects and tenants, page by page
"""
