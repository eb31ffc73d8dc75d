"""Sphinx extension: names become links.

Inline code that is the name of a public class or function, of a learner, of a file of the repository or of an object in
it links to its page. "Theorem 3.2" and "E5" in the text link to the statement and to the erratum.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

from api_pages import public_names, theory_modules
from driftwise.theory.statements import statements
from reference_pages import kinds, members_of
from related_files import ROOT, place

CODE = "_code"  # folder of the pages that show source files, in the site
_FILE = re.compile(r"(?:src|tests|benchmarks|examples|docs)/[\w./-]+\.(?:py|toml|csv|c)")
_MENTION = re.compile(r"\b(?:((?:Theorem|Lemma|Algorithm|Table) (?:[A-F2-4]\.\d|\d))|(E\d{1,2}))\b(?![\w.]\w)")
_ERRATUM = re.compile(r"E\d{1,2}(?=\.)")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-read", mark_errata)
    app.connect("doctree-resolved", link_names)
    app.add_config_value("pages_of_names", {}, "")
    app.connect("config-inited", lambda _, config: config.pages_of_names.update(_pages()))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _pages() -> dict[str, str]:
    """Return the page of every name."""
    found = {name: f"reference/api/{name}" for name in [*public_names(), *theory_modules()]}
    for folder, registries in kinds().items():
        for registry in registries:
            for member in members_of(registry):
                page = f"reference/{folder}/{member.name}"
                found[member.__name__] = page
                if folder == "learners" or "-" in member.name:  # names such as `segments` are words too
                    found[member.name] = page
    return found | {each.number: f"reference/theorems/{each.slug}" for each in statements.values()}


def mark_errata(app: Sphinx, document: nodes.document) -> None:
    """Give every entry of the errata a name that links can point to."""
    if app.env.docname != "errata":
        return
    for node in [*document.findall(nodes.strong), *document.findall(nodes.title)]:
        if found := _ERRATUM.match(node.astext()):
            node["ids"].append(found.group().lower())


def link_names(app: Sphinx, document: nodes.document, page: str) -> None:
    """Turn names into links, except in headings, in links and to the page itself."""
    for node in list(document.findall(nodes.literal)):
        if _is_free(node) and (target := _target(app, node.astext())) and target != page:
            _wrap(node, [node.deepcopy()], app, page, target)
    for text in list(document.findall(nodes.Text)):
        if _is_free(text) and not isinstance(text.parent, (nodes.literal, nodes.literal_block, nodes.math)):
            _link_mentions(app, page, text)


def _is_free(node: nodes.Node) -> bool:
    outer = node.parent
    while outer is not None and not isinstance(outer, nodes.document):
        if isinstance(outer, (nodes.reference, nodes.title, nodes.literal_block, nodes.math_block, nodes.raw)):
            return False
        outer = outer.parent
    return True


def _target(app: Sphinx, text: str) -> str | None:
    """Return the page, or the page of source code with its line, that a name belongs to."""
    named: dict[str, str] = app.config.pages_of_names
    bare = text.removesuffix("()").removeprefix("driftwise.")
    for candidate in (text, bare, bare.rpartition(".")[2] if bare.count(".") == 1 else ""):
        if candidate in named and not (candidate == "E" or candidate in statements):
            return named[candidate]
    if (found := re.fullmatch(r"docs/([\w/-]+)\.md", text)) and found.group(1) in app.env.found_docs:
        return found.group(1)
    if _FILE.fullmatch(text) and (ROOT / text).is_file():
        return f"{CODE}/{text}"
    if re.fullmatch(r"driftwise(?:\.\w+)+", text):
        return _line_of(text)
    return None


def _line_of(dotted: str) -> str | None:
    try:
        member = pkgutil.resolve_name(dotted)
        if isinstance(member, property):
            member = member.fget
        file, line = place(inspect.unwrap(member) if callable(member) else member)
    except (AttributeError, ImportError, OSError, TypeError, ValueError):
        return None
    return f"{CODE}/{file}#line-{line}"


def _link_mentions(app: Sphinx, page: str, text: nodes.Text) -> None:
    parts: list[nodes.Node] = []
    end = 0
    for found in _MENTION.finditer(text):
        statement, erratum = found.groups()
        target = f"errata#{erratum.lower()}" if erratum else app.config.pages_of_names.get(statement)
        if not target or target.partition("#")[0] == page or (erratum and int(erratum[1:]) not in range(1, 17)):
            continue
        parts.append(nodes.Text(text[end : found.start()]))
        parts.append(_reference(app, page, target, [nodes.Text(found.group())]))
        end = found.end()
    if parts:
        text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def _wrap(node: nodes.Node, inside: list[nodes.Node], app: Sphinx, page: str, target: str) -> None:
    node.parent.replace(node, _reference(app, page, target, inside))


def _reference(app: Sphinx, page: str, target: str, inside: list[nodes.Node]) -> nodes.reference:
    name, _, anchor = target.partition("#")
    uri = f"{name}.html" if name.startswith(CODE) else app.builder.get_target_uri(name)
    link = relative_uri(app.builder.get_target_uri(page), uri) + (f"#{anchor}" if anchor else "")
    return nodes.reference("", "", *inside, internal=True, refuri=link)
