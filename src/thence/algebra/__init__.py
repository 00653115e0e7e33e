"""What a query is, once read: frozen dataclasses for expressions, patterns and queries; `show` writes them as text."""
