from mindinsight.server.formats.graphs.call_stacks import Frame, own_frame, stacks_of


def test_the_users_own_line() -> None:
    library = Frame("/usr/lib/python3/site-packages/torch/nn/module.py", 1)
    system = Frame("/usr/lib/python3/dist-packages/mindspore/ops.py", 2)
    own = Frame("/home/me/train.py", 3)
    assert own_frame((library, system, own, Frame("/home/me/main.py", 4))) == own
    assert own_frame((library,)) is None
    assert own_frame(()) is None


def test_a_dash_begins_a_group() -> None:
    lines = (
        "      # Corresponding forward node candidate:",
        "      #  - In file /a.py:1, 1~2/one/",
        "      #    In file /a.py:2, 1~2/two/",
        "      #  - In file /b.py:3/three/",
        "      # nothing of the kind",
    )
    assert [[frame.line for frame in stack] for stack in stacks_of(lines)] == [[1, 2], [3]]
