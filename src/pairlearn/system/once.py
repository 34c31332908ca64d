"""Attributes that are computed when they are first asked for, without a lock.

`functools.cached_property` of Python 3.11 holds one lock for all objects of a class
while it computes. A process that forks at this moment leaves it locked in the child for
ever, and fits in several threads wait for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["once"]

Value = TypeVar("Value")


class once(Generic[Value]):  # noqa: N801 - it is used as `property` is
    """Make a method an attribute that is computed once for each object.

    Threads that ask for it at the same time may both compute it, and get the same one.

    Examples
    --------
    >>> class Square:
    ...     def __init__(self, side):
    ...         self.side = side
    ...
    ...     @once
    ...     def area(self):
    ...         print("computed")
    ...         return self.side**2
    >>> square = Square(3)
    >>> square.area + square.area
    computed
    18
    """

    def __init__(self, method: Callable[[Any], Value]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...

    def __get__(self, instance: object, owner: type | None = None) -> Self | Value:
        """Compute the value and put it where the next look finds it at once."""
        if instance is None:
            return self
        value: Value = vars(instance).setdefault(self.name, self.method(instance))
        return value
