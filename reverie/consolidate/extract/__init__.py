"""extract: turns and events become candidates for memory."""
