"""The gallery's page is whole after a run that drew only some of the pictures."""

from __future__ import annotations

from pathlib import Path

from gallery_page import pictures_of


def test_pictures_of_earlier_runs_stay_in_their_places(tmp_path: Path) -> None:
    for name in (
        "tools-over-lab-dark-360",
        "old-fashioned-lab-light-360",
        "tools-lab-light-1400",
        "tools-lab-light-360",
        "prose-over-notebook-light-800",
        "odd-end-over-lab-light-800",
    ):
        (tmp_path / f"{name}.png").touch()
    found = pictures_of(tmp_path)
    assert list(found) == ["prose-over", "tools", "tools-over", "odd-end-over", "old-fashioned"]
    assert found["tools"] == [
        ("tools-lab-light-360.png", "lab, light, 360 px"),
        ("tools-lab-light-1400.png", "lab, light, 1400 px"),
    ]
