"""What the processor can do and Python has no word for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["as_double", "nearest", "prefetch"]

# What the compiler calls has other arguments than what is defined.
_intrinsic: Any = intrinsic
_cgutils: Any = cgutils
_READ, _SECOND_CACHE, _DATA = 0, 2, 1


@_intrinsic  # type: ignore[untyped-decorator]
def as_double(_: Any, bits: Any) -> Any:
    """Return the number that is written by these 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(signature.return_type))

    return types.float64(bits), generate


@_intrinsic  # type: ignore[untyped-decorator]
def nearest(_: Any, x: Any) -> Any:
    """Return the integer next to x, as a float."""

    def generate(_: Any, builder: Any, __: Any, args: Any) -> Any:
        double = args[0].type
        function = _cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(double, [double]), "llvm.rint.f64"
        )
        return builder.call(function, args)

    return types.float64(x), generate


@_intrinsic  # type: ignore[untyped-decorator]
def prefetch(_: Any, X: Any, row: Any, column: Any) -> Any:
    """Ask memory for the line of X that this entry is in, and do not wait for it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, *places = signature.args
        array = context.make_array(kind)(context, builder, args[0])
        at = [
            context.cast(builder, value, place, types.intp)
            for value, place in zip(args[1:], places, strict=True)
        ]
        entry = _cgutils.get_item_pointer(context, builder, kind, array, at)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = _cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, number, number, number]),
            "llvm.prefetch.p0",
        )
        hints = [number(hint) for hint in (_READ, _SECOND_CACHE, _DATA)]
        builder.call(function, [builder.bitcast(entry, byte), *hints])
        return context.get_dummy_value()

    return types.void(X, row, column), generate
