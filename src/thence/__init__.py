"""Complex event processing over RDF graph streams and plain DataFrames."""

from thence.errors import InputError, LimitError, QueryError, RdfError, ThenceError

__version__ = "0.1.0.dev0"

__all__ = ["InputError", "LimitError", "QueryError", "RdfError", "ThenceError", "__version__"]
