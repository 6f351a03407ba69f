"""decay: importance fades."""
