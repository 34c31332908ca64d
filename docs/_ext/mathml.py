"""Formulas as MathML, which browsers draw themselves: no script, and no network."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def _translate(node, *, as_block):
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return node.astext()


def _inline(writer, node):
    writer.body.append(_translate(node, as_block=False))
    raise nodes.SkipNode


def _display(writer, node):
    writer.body.append(writer.starttag(node, "div", CLASS="formula"))
    writer.body.append(_translate(node, as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Add the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
