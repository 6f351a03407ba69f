"""Live capture: turns and observations as they come, and their way to the log.

- `acknowledge`: turns into the buffer, answered with what the rules find
- `readings`: the rules applied to the turns of a request
- `nearness`: vectors of the messages, and the memories near to them
- `moods`: the mood of each message
- `mood_model`: a language model's judgement of a mood
- `working_memory`: the state of a session in progress
- `flush`: turns of quiet sessions into the log
- `observations`: events beside the turns
- `connection_tools`: the cached tools of a connection
- `corrections`: what a person says about a memory
- `acknowledgements`: triggers that somebody acted upon
- `reviews`: turns that a person should look at
"""
