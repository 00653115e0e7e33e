"""The shard key of a network: a variable that every part binds and joins on."""

from __future__ import annotations

from thence.algebra.expressions import Variable
from thence.program.operator import ShardKey, one_shard
from thence.program.tables import Table
from thence.program.temporal.network import (
    Network,
    PathScan,
    Project,
    Scan,
    Summarise,
)


def shard_key(network: Network, tables: tuple[Table, ...], policy: str) -> ShardKey:
    """Events that differ in the key never meet: every triple pattern has the variable, every row shows it where rows
    are compared, and it keeps its name from the leaves to the root."""
    reason = _reason(network, policy)
    if reason:
        return one_shard(len(tables), reason)
    scans = [node for node in network.nodes if isinstance(node, Scan)]
    (root,) = (statement.root for statement in network.statements)
    shared = [name for name in scans[0].variables if all(name in scan.variables for scan in scans)]
    for name in shared:
        if all(_keeps(node, name, number == root) for number, node in enumerate(network.nodes)):
            routes: list[tuple[int, ...] | None] = [None] * len(tables)
            columns = {scan.table: scan.variables.index(name) for scan in scans}
            if any(columns[scan.table] != scan.variables.index(name) for scan in scans):
                continue  # two patterns share a table, and mean different columns of it
            for table, column in columns.items():
                routes[table] = (column,)
            return ShardKey((name.name,), tuple(routes))
    return one_shard(len(tables), "no variable is in every triple pattern and kept by every part")


def _reason(network: Network, policy: str) -> str:
    if policy and policy != "unrestricted":
        return "a policy chooses among all events"
    if any(statement.is_rule for statement in network.statements):
        return "rules feed the stream"
    if any(isinstance(node, PathScan) for node in network.nodes):
        return "a path reads whole events"
    if not any(isinstance(node, Scan) for node in network.nodes):
        return "no triple pattern reads the stream"
    roots = (network.nodes[statement.root] for statement in network.statements)
    if any(isinstance(root, Summarise) and root.select.modifiers.order for root in roots):
        return "ORDER BY orders all rows of one end"
    return ""


def _keeps(node: object, name: Variable, is_root: bool) -> bool:
    """Whether a node compares only solutions that agree in a variable, and passes it on."""
    match node:
        case Project():
            return name in node.variables or (is_root and not node.distinct)
        case Summarise():
            keys = node.select.modifiers.group
            sliced = node.select.modifiers.limit is not None or node.select.modifiers.offset is not None
            grouped = not node.aggregates or any(key.expression == name for key in keys or ())
            return not sliced and grouped and (is_root or name in node.variables)
        case _:
            return True
