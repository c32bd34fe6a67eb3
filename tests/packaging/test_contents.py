"""What is installed by strangers holds all that it needs and nothing else."""

from __future__ import annotations

import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

from tests.packaging import building, environments

ROOT = building.ROOT
Built = tuple[Path, Path]


def test_the_wheel_holds_the_package_with_its_revisions_and_nothing_else(built: Built):
    expected = {place: name for name in building.tracked() if (place := building.belongs_in_wheel(name))}
    found = building.of_wheel(built[0])
    assert set(found) == set(expected)
    assert [place for place, name in expected.items() if found[place] != (ROOT / name).read_bytes()] == []


def test_the_wheel_has_no_tool_test_bench_or_data(built: Built):
    with zipfile.ZipFile(built[0]) as archive:
        folders = {name.split("/")[0] for name in archive.namelist()}
        data = {Path(name).suffix for name in archive.namelist()} & {".csv", ".gz", ".parquet", ".zip"}
    [info] = folders - {"pyqueue_sql"}
    assert info.endswith(".dist-info")
    assert data == set()


def test_the_wheel_says_that_it_has_types_and_brings_its_licence(built: Built):
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
    assert "pyqueue_sql/py.typed" in names
    assert [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]


def test_the_sdist_is_the_tree_as_it_is_tracked(built: Built):
    expected = {name for name in building.tracked() if building.belongs_in_sdist(name)}
    found = building.of_sdist(built[1])
    assert set(found) - {"PKG-INFO"} == expected
    assert [name for name in expected if found[name] != (ROOT / name).read_bytes()] == []


def test_the_sdist_builds_the_same_wheel(built: Built, tmp_path: Path):
    with tarfile.open(built[1]) as archive:
        archive.extractall(tmp_path / "sdist", filter="data")
    [source] = (tmp_path / "sdist").iterdir()
    [wheel] = building.build(source, tmp_path / "wheel", "wheel")
    assert wheel.name == built[0].name
    assert wheel.read_bytes() == built[0].read_bytes()


def test_each_dependency_of_an_application_has_an_oldest_version(built: Built):
    asked, extras = environments.requirements(built[0])
    assert len([environments.floor(one) for one in asked]) > len(extras)


def test_an_extra_is_either_tried_or_left_out_for_a_reason(built: Built):
    with zipfile.ZipFile(built[0]) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("METADATA")]
        provided = set(Parser().parsestr(archive.read(name).decode()).get_all("Provides-Extra", []))
    assert provided == {*environments.requirements(built[0])[1], *environments.NOT_INSTALLED}
