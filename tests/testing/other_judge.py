"""A judge in a file of its own."""


def judge(task, first, second):  # noqa: ARG001
    return "2"
