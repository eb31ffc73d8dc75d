"""A store follows no link that somebody put into its folder under a name of its own."""

import pytest

from driftwise.core.errors import BadFile
from driftwise.results import Store
from driftwise.results.store import FILE
from store_examples import cells


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file").write_text("precious")
    yield folder
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("file", "precious")]


@pytest.mark.parametrize("target", ["file", "new", "."])
def test_a_link_in_the_place_of_the_lock_is_refused(tmp_path, outside, target):
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "lock").symlink_to(outside / target)
    with pytest.raises(BadFile, match=r"^Cannot use the store .*: its file `lock` is a link; delete it\.$"):
        Store(folder)


def test_a_link_in_the_place_of_the_folder_of_damaged_files_is_refused(tmp_path, outside):
    folder = tmp_path / "store"
    with Store(folder) as store:
        store.add(cells(0, 1, 2))
    content = (folder / FILE).read_bytes()[:100] + b"\xff" * 3000
    (folder / FILE).write_bytes(content)
    (folder / "damaged").symlink_to(outside)
    with pytest.raises(BadFile, match=r"^Cannot use the store .*: its folder `damaged` is a link; delete it\.$"):
        Store(folder)
    assert (folder / FILE).read_bytes() == content
    (folder / "damaged").unlink()
    assert len(Store(folder).damaged) == 1


@pytest.mark.parametrize("name", [".claim-0123456789abcdef", ".driftwise-0123456789abcdef"])
def test_other_links_stay_and_are_not_followed(tmp_path, outside, name):
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / name).symlink_to(outside / "file")
    with Store(folder) as store:
        store.add(cells(0))
    assert (folder / name).is_symlink()
