"""Models behind small interfaces: what reads a text and answers with numbers.

`embedder` names the interface and picks an implementation; `minilm` is the default and needs no network, `local` runs any
sentence-transformers model, `hosted` any model that litellm can reach; `batching` and `wire` are what they share with the
stages. Nothing here touches Postgres, and no model is loaded, nor its library imported, before it is asked for.
"""
