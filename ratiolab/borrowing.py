# mypy: allow-untyped-calls, allow-subclassing-any
"""A compiler that counts no references to what a function borrows from its caller.

numba counts a reference when a variable is bound and when it is deleted, by an atomic operation for
each array or list, hence many for a named tuple of them. An argument lives as long as the call, and
so do the fields of a tuple and views of an array: while the function runs, they need no count. A
variable that is only ever bound to such a value is borrowed. Here it gives its reference back as
soon as it is bound, and none when it is deleted. The optimiser then removes the two operations,
which stand side by side.
"""

from typing import Any

from numba.core import ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

FIELDS = "getattr", "static_getitem", "exhaust_iter"
"""Operations on a tuple that return a field, or all of them."""

VIEWS = "getitem", "static_getitem"
"""Operations on an array that return a view, if the index consists of integers and slices."""


class Borrowing(Lower):
    """Translation of a function to machine code, without counts for borrowed variables."""

    def pre_lower(self) -> None:
        """Find the borrowed variables: no other value is ever bound to one of them."""
        super().pre_lower()
        bound = [inst for block in self.blocks.values() for inst in block.find_insts(ir.Assign)]
        self._borrowed: set[str] = set()
        if self.generator_info is None:
            self._borrowed = {inst.target.name for inst in bound}
        own = {""}
        while own:
            own = {inst.target.name for inst in bound if not self._lives(inst.value)}
            own &= self._borrowed
            self._borrowed -= own

    def _lives(self, value: Any) -> bool:
        """Return whether a value is known to live as long as the call."""
        if isinstance(value, ir.Var):
            return value.name in self._borrowed
        if not isinstance(value, ir.Expr):
            return isinstance(value, ir.Arg)
        if value.op not in FIELDS + VIEWS or value.value.name not in self._borrowed:
            return False
        kind = self.typeof(value.value.name)
        if isinstance(kind, types.BaseTuple):
            return value.op in FIELDS
        if value.op not in VIEWS or not isinstance(kind, types.Array):
            return False
        by = value.index if value.op == "getitem" else value.index_var
        index = None if by is None else self.typeof(by.name)
        parts: Any = index if isinstance(index, types.BaseTuple) else (index,)
        return all(isinstance(part, types.Integer | types.SliceType) for part in parts)

    def lower_inst(self, inst: Any) -> None:
        """Translate a statement."""
        super().lower_inst(inst)
        if isinstance(inst, ir.Assign) and inst.target.name in self._borrowed:
            name = inst.target.name
            self.decref(self.typeof(name), self.loadvar(name))

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Bind a variable; a borrowed one gives nothing back that a loop bound to it before."""
        in_register = name in self._singly_assigned_vars and not self._disable_sroa_like_opt
        if name in self._borrowed and not in_register:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))
        else:
            super().storevar(value, name, argidx)

    def delvar(self, name: str) -> None:
        """Delete a variable."""
        if name not in self._borrowed:
            super().delvar(name)


@register_pass(mutates_CFG=True, analysis_only=False)
class BorrowingPass(NativeLowering):
    """The translation as a pass of the compiler."""

    _name = "borrowing_lowering"
    lowering_class = Borrowing


class BorrowingCompiler(CompilerBase):
    """The compiler of numba with this translation in place of its own."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes, as the one pipeline there is."""
        passes = PassManager("borrowing")
        for each, what in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            passes.add_pass(BorrowingPass if each is NativeLowering else each, what)
        passes.finalize()
        return [passes]
