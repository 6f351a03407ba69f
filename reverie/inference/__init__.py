"""Models behind small interfaces.

Nothing here touches Postgres, and no model's library is imported before it is needed.

- `loading`: loads the model that a setting names
- `embedder`: the interface of embedding models
- `minilm/`: the default embedder, which needs no network
- `reader/`: the reader of messages
- `judge/`: the judge of what a message ends
- `version`: the version of a small model's answers
- `local`: any embedding model of sentence-transformers
- `hosted`: any embedding model that litellm can reach
- `batching`: batches of texts for local models, and their threads
- `wire`: vectors in the binary format of halfvec
- `reranker`: the interface of rerankers
- `cross_encoder`: any cross-encoder of sentence-transformers
- `completions`: language models through litellm
- `recorded`: recorded replies in place of a language model
- `prompts`: the prompts, with the schema of their replies
- `replies`: replies parsed and checked
- `deadline`: a deadline on a whole call
- `tokens`: token counts
- `extras`: optional libraries, with one sentence on how to install a missing one
"""

from reverie.inference.embedder import Embedder, Vectors
from reverie.inference.loading import load_embedder
from reverie.inference.wire import from_half_wire, to_half_wire

__all__ = ["Embedder", "Vectors", "from_half_wire", "load_embedder", "to_half_wire"]
