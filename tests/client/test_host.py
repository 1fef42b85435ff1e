"""The host of scripts: it blocks, asks nobody, and runs a user's function beside the wait."""

from __future__ import annotations

import concurrent.futures
import threading

import pytest

from acp_notebook.client.host import Host, current_host, install_host


def test_a_wait_ends_with_the_future_or_in_time():
    future = concurrent.futures.Future()
    assert Host().wait(future, 0.01) is False
    future.set_result(None)
    assert Host().wait(future, None) is True


def test_functions_that_never_return_do_not_hold_up_the_next():
    never = threading.Event()
    for _ in range(5):
        Host().run_user_function(never.wait)
    assert Host().run_user_function(lambda word: word.upper(), "next").result(10) == "NEXT"
    assert all(t.daemon for t in threading.enumerate() if t.name == "acp-user-function")
    never.set()


async def _later(word):
    return word.upper()


def _makes_an_awaitable(word):
    return _later(word)


@pytest.mark.parametrize("function", [_later, _makes_an_awaitable])
def test_an_async_function_is_awaited(function):
    assert Host().run_user_function(function, "word").result(10) == "WORD"


@pytest.mark.parametrize("error", [LookupError("no"), SystemExit(1), KeyboardInterrupt()])
def test_what_a_function_raises_belongs_to_who_asked(error):
    def fail() -> None:
        raise error

    assert Host().run_user_function(fail).exception(10) is error


def test_a_host_can_be_replaced_and_put_back():
    before, other = current_host(), Host()
    install_host(other)
    try:
        assert current_host() is other
    finally:
        install_host(before)
    assert current_host() is before
