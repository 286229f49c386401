from mindinsight.server.formats.graphs.dataflow import Feeds


def test_tuples_are_looked_through():
    feeds = Feeds({"x": ("x",), "w": ("w",)})
    assert feeds.add("0", "Load", "Load-op0", ["w", "monad"]) == ("w",)
    assert feeds.add("1", "Add", "Add-op0", ["x", "0", "x"]) == ("x", "w")
    assert feeds.add("2", "MakeTuple", "MakeTuple-op0", ["1", "constant", "0"]) == ("Add-op0", "w")
    assert feeds.add("3", "TupleGetItem", "TupleGetItem-op0", ["2", "2"]) == ("w",)
    assert feeds.add("4", "TupleGetItem", "TupleGetItem-op1", ["2", "0"]) == ("Add-op0",)
    assert feeds.add("5", "TupleGetItem", "TupleGetItem-op2", ["1", "1"]) == ("Add-op0",)
    assert feeds.add("6", "UpdateState", "UpdateState-op0", ["1", "0"]) == ()
    assert feeds.add("7", "Depend", "Depend-op0", ["4", "6"]) == ("Add-op0",)
    assert feeds.add("8", "Mul", "Mul-op0", ["7", "3", "unheard"]) == ("Add-op0", "w")


def test_operators_without_names_feed_nothing():
    feeds = Feeds()
    feeds.add("0", "Add", "", [])
    assert feeds.add("1", "Add", "Add-op0", ["0"]) == ()
