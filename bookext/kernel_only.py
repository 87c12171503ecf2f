"""Cells tagged ``kernel-only``: executed with the rest, so that they cannot rot, but their output
needs a running kernel and stays off the page. The source is shown with one line that says so.

The output leaves the doctree before it is pickled, so the widget state on the page (which
bookext.widgets reduces to the views that are left) does not carry its models either.
"""

from docutils import nodes
from sphinx.transforms import SphinxTransform

from bookext.public import is_code_cell, remove_outputs

TAG = "kernel-only"
NOTE = "Runs in the "
LINK = "notebook"
REST = ", where a kernel answers."


class KernelOnlyCells(SphinxTransform):
    default_priority = 2

    def apply(self, **kwargs):
        for cell in self.document.findall(is_code_cell):
            if TAG in (cell.get("cell_metadata") or {}).get("tags", []):
                remove_outputs(cell)
                cell += note(self.env.docname)


def note(docname: str) -> nodes.paragraph:
    up = "../" * docname.count("/")
    address = f"{up}notebooks/{docname.rsplit('/', 1)[-1]}.ipynb"
    paragraph = nodes.paragraph(classes=["kernel-only-note"])
    paragraph += nodes.Text(NOTE)
    paragraph += nodes.reference("", LINK, refuri=address, internal=True)
    paragraph += nodes.Text(REST)
    return paragraph


def setup(app):
    app.add_transform(KernelOnlyCells)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
