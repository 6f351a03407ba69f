"""Models behind small interfaces: what reads a text and answers with numbers.

`embedder` names the interface and picks an implementation: `minilm` is the default and needs no network, `local` runs
any sentence-transformers model, `hosted` any model that litellm can reach. `batching` is what the local ones share;
`wire` is how vectors travel. Nothing here touches Postgres, and no model's library is imported before it is asked for.
"""

from reverie.inference.embedder import Embedder, Vectors
from reverie.inference.loading import load_embedder
from reverie.inference.wire import from_half_wire, to_half_wire

__all__ = ["Embedder", "Vectors", "from_half_wire", "load_embedder", "to_half_wire"]
