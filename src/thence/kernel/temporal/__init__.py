"""The temporal operator: joins solutions ⟨μ, tα, tω⟩ semi-naively, only new ones with those that are stored."""
