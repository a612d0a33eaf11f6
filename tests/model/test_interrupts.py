"""Ctrl-C in compiled code is Ctrl-C; other errors of the interpreter stay what they are."""

import pytest

from ratiolab.model.interrupts import heard


def fail(cause: BaseException | None) -> None:
    raise SystemError("returned a result with an exception set") from cause


def test_ctrl_c_behind_an_error_of_the_interpreter_is_raised_as_such():
    with pytest.raises(KeyboardInterrupt), heard():
        fail(KeyboardInterrupt())


@pytest.mark.parametrize("cause", [None, ValueError("other")])
def test_other_errors_of_the_interpreter_pass(cause):
    with pytest.raises(SystemError), heard():
        fail(cause)
