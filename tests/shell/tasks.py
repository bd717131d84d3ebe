"""A task for the tests of the queue."""


def double(number: int) -> int:
    return 2 * number
