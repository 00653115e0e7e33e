"""What `bench/kernel.py` measures: stock ticks, queries over them, and the peers that answer the V pattern too."""
