"""Windows over streams: the operator of RSEP-QL."""
