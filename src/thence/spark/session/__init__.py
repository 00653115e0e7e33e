"""Starting Spark, its Python workers and its class archive; shipping this package to executors."""
