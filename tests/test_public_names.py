"""`acp_notebook.__all__` is what is public, and each name is there when it is asked for."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

import acp_notebook
from acp_notebook import errors

PACKAGES = ["acp_notebook", "acp_notebook.agent_kit", "acp_notebook.jsonrpc"]


def test_the_public_names_are_sorted_and_named_once():
    names = acp_notebook.__all__
    assert list(names) == sorted(set(names))


@pytest.mark.parametrize("name", acp_notebook.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(acp_notebook, name) is not None


def test_every_lazy_name_is_public_and_every_public_name_has_one_home():
    lazy = set(acp_notebook._HOMES)
    assert set(acp_notebook.__all__) == lazy | {"__version__"}


def test_a_name_that_is_not_there_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_this_name'"):
        _ = acp_notebook.nothing_of_this_name


def test_dir_tells_the_public_names():
    assert set(dir(acp_notebook)) == set(acp_notebook.__all__)


def test_star_import_gives_the_public_names():
    space = {}
    exec("from acp_notebook import *", space)
    assert set(space) - {"__builtins__"} == set(acp_notebook.__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_of_a_package_exists(package):
    module = import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_every_public_class_and_function_has_a_docstring():
    bare = [
        name
        for name in acp_notebook.__all__
        if callable(found := getattr(acp_notebook, name)) and not inspect.getdoc(found)
    ]
    assert bare == []


def test_every_error_is_in_one_tree():
    kinds = [kind for kind in vars(errors).values() if inspect.isclass(kind)]
    ours = [kind for kind in kinds if kind.__module__ == errors.__name__]
    assert len(ours) >= 9
    assert all(issubclass(kind, acp_notebook.AcpNotebookError) for kind in ours)
