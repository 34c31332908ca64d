"""The rules of levels A and AA, by axe-core."""

from tests.support.browser import AXE_SCRIPT

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def violations(page):
    """Return what axe-core finds on a page: rule, element and summary each."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    rules = {
        "runOnly": {"type": "tag", "values": LEVELS},
        "resultTypes": ["violations"],
    }
    found = page.evaluate("rules => axe.run(document, rules)", rules)
    assert found["passes"]
    return [
        (one["id"], node["html"], node["failureSummary"])
        for one in found["violations"]
        for node in one["nodes"]
    ]
