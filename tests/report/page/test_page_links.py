"""Pages and figures in a folder of the user replace links there; a page under a name of the user follows them."""

import pytest

from driftwise.report.page import write_figures, write_page
from plain_page import plain_page


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file").write_text("precious")
    return folder


def test_figures_replace_links(tmp_path, outside):
    page = plain_page()
    clean = {file.name: file.read_bytes() for file in write_figures(tmp_path / "clean", page)}
    (tmp_path / "figures").mkdir()
    for name, target in zip(clean, ["file", "new"], strict=False):
        (tmp_path / "figures" / name).symlink_to(outside / target)
    written = write_figures(tmp_path / "figures", page)
    assert {file.name: file.read_bytes() for file in written} == clean
    assert not any(file.is_symlink() for file in written)
    assert [(file.name, file.read_text()) for file in outside.iterdir()] == [("file", "precious")]


@pytest.mark.parametrize("follow", [True, False])
def test_a_page_follows_a_link_or_replaces_it(tmp_path, outside, follow):
    (tmp_path / "page.html").symlink_to(outside / "file")
    write_page(tmp_path / "page.html", plain_page(), follow_link=follow)
    assert (tmp_path / "page.html").is_symlink() == follow
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert (outside / "file").read_text().startswith("<!DOCTYPE" if follow else "precious")
