"""Where in the source a node stands, for messages that name file and line."""

from docutils import nodes


def placed(node: nodes.Node) -> nodes.Node:
    """The node, or the nearest one around it, that knows its line."""
    while node.parent is not None and not node.line:  # 0 is unknown too
        node = node.parent
    return node


def location(node: nodes.Node, docname: str) -> tuple[str, int | None]:
    """For a logger: the document, and the line of the node."""
    return docname, placed(node).line
