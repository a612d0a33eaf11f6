"""Ctrl-C in compiled code is Ctrl-C; other errors of the interpreter stay what they are."""

import pytest

from ratiolab.model.interrupts import heard


def fail(cause: BaseException | None) -> None:
    raise SystemError("returned a result with an exception set") from cause


def test_ctrl_c_behind_an_error_of_the_interpreter_is_raised_as_such():
    with pytest.raises(KeyboardInterrupt), heard():
        fail(KeyboardInterrupt())


def test_it_may_stand_behind_several_of_them():
    def twice() -> None:
        try:
            fail(KeyboardInterrupt())
        except SystemError as error:
            fail(error)

    with pytest.raises(KeyboardInterrupt), heard():
        twice()


@pytest.mark.parametrize("cause", [None, ValueError("other")])
def test_other_errors_of_the_interpreter_pass(cause):
    with pytest.raises(SystemError), heard():
        fail(cause)
