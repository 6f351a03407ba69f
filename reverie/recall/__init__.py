"""From a question to an answer or a context.

- `recall`: the answer to a question, with a reason for every hit
- `query`: what is asked, about whom and as of when
- `candidates`: what may answer it, best first
- `question`: dates, speakers and sources that a question names
- `search`: the search statement
- `fresh/`: turns that are recalled before they are searchable
- `filters`: filters by connection, context type, source, tool, attachment and session
- `subject_cache`: what a recall must know of its subject, cached, so that a recall takes one statement
- `rerank`: the best candidates ranked by a cross-encoder
- `result`: the types of an answer
- `passes`: the passes over the ranked candidates, in their order
- `places/`: what each pass decides
- `staged`: facts first, then the nearest summaries
- `contexts/`: what a language model is told
- `profile`: a subject in short
- `facts`: structured facts, by key
- `scaffold`: the free-form part of a profile
- `connections`: cached tools of connections, and what was learned about them
- `relationship`: the stage of the relationship
- `inspect`: all about one memory, and why
- `browse`: memories, entities and graph, page by page
- `conflicts`: memories that cannot both hold
- `assist/`: tools, lessons, inboxes and states for an assistant
- `signals/`: reasons to act for a subject, and its figures
- `roster`: subjects and tenants, page by page
"""
