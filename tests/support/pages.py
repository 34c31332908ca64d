"""Pages of a fit, taken apart."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np

ROW = r'<tr><th scope="row".*?</tr>'
EVIL = "<script>alert('1')</script>&\"><img src=x onerror=a>"


def suspicions(t, order):
    """Stand-in with the fields of SuspiciousAnswers; the first in order are wrong."""
    order = np.asarray(order)
    suspicion = np.empty(len(t))
    suspicion[order] = np.linspace(0.9, 0.0, len(t))
    probability = np.where(suspicion > 0.5, (1 - t) / 2, (1 + t) / 2) * 0.8 + 0.1
    return SimpleNamespace(
        order=order,
        suspicion=suspicion,
        probability=probability,
        contradicted=suspicion > 0.85,
    )


class Tags(HTMLParser):
    VOID = ("meta", "br", "rect", "line", "circle")

    def __init__(self, page):
        super().__init__()
        self.open, self.addresses, self.names, self.tags = [], [], [], []
        self.words = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.addresses += [
            attrs[n] for n in attrs if n in ("href", "src", "xlink:href")
        ]
        self.names += [attrs["id"]] if "id" in attrs else []
        assert not [name for name in attrs if name.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.words.append(data)


def section(html, name):
    return re.search(rf'<section id="{name}">.*?</section>', html, re.DOTALL)[0]


def words(html):
    return " ".join("".join(Tags(html).words).split())
