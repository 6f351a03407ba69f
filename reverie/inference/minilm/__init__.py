"""The default embedder: all-MiniLM-L6-v2 on ONNX Runtime, weights from a package, tokenizer from this folder.

- `onnx`: the model
- `lower`: cuts a model below one of its values
"""
