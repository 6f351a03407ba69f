"""Live capture: accepts turns and observations as they arrive, and moves them to the log.

- `acknowledge`: stores turns in the buffer and answers with the findings of the rules
- `readings`: the rules applied to the turns of a request
- `nearness`: vectors of the messages, and the memories near to them
- `moods`: the mood of each message
- `mood_model`: a language model's judgement of a mood
- `working_memory`: the state of a session in progress
- `flush`: moves turns of quiet sessions to the log
- `observations`: events beside the turns
- `connection_tools`: the cached tools of a connection
- `corrections`: a person's corrections of a memory
- `acknowledgements`: triggers that somebody acted upon
- `reviews`: turns that a person should look at
"""
