"""Interrupts held while a message is between the socket and its place.

Serving, queueing and probing are tested through the pump, in test_pump.
"""

from __future__ import annotations

import signal

import pytest

from acp_notebook.kernel.waiting.shell_channel import HeldInterrupts


def test_held_interrupt_is_raised_when_the_message_is_safe():
    steps = []

    def read():
        with HeldInterrupts():
            signal.raise_signal(signal.SIGINT)
            steps.append("message is safe")

    with pytest.raises(KeyboardInterrupt):
        read()
    assert steps == ["message is safe"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handler_of_a_message_can_be_interrupted_but_not_what_follows_it():
    steps = []

    def answer():
        with HeldInterrupts() as interrupts:
            try:
                with interrupts.released():
                    signal.raise_signal(signal.SIGINT)
                    steps.append("handler went on")
            finally:
                signal.raise_signal(signal.SIGINT)
                steps.append("idle was sent")

    with pytest.raises(KeyboardInterrupt):
        answer()
    assert steps == ["idle was sent"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_interrupt_that_came_before_the_handler_keeps_it_from_starting():
    steps = []

    def answer():
        with HeldInterrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
            with interrupts.released():
                steps.append("handler started")

    with pytest.raises(KeyboardInterrupt):
        answer()
    assert steps == []
