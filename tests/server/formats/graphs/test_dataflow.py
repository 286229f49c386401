from mindinsight.server.formats.graphs.dataflow import Dataflow


def test_tuples_are_looked_through() -> None:
    dataflow = Dataflow({"x": ("x",), "w": ("w",)})
    assert dataflow.add("0", "Load", "Load-op0", ["w", "monad"]) == ("w",)
    assert dataflow.add("1", "Add", "Add-op0", ["x", "0", "x"]) == ("x", "w")
    assert dataflow.add("2", "MakeTuple", "MakeTuple-op0", ["1", "constant", "0"]) == ("Add-op0", "w")
    assert dataflow.add("3", "TupleGetItem", "TupleGetItem-op0", ["2", "2"]) == ("w",)
    assert dataflow.add("4", "TupleGetItem", "TupleGetItem-op1", ["2", "0"]) == ("Add-op0",)
    assert dataflow.add("5", "TupleGetItem", "TupleGetItem-op2", ["1", "1"]) == ("Add-op0",)
    assert dataflow.add("6", "UpdateState", "UpdateState-op0", ["1", "0"]) == ()
    assert dataflow.add("7", "Depend", "Depend-op0", ["4", "6"]) == ("Add-op0",)
    assert dataflow.add("8", "Mul", "Mul-op0", ["7", "3", "unheard"]) == ("Add-op0", "w")


def test_operators_without_names_feed_nothing() -> None:
    dataflow = Dataflow()
    dataflow.add("0", "Add", "", [])
    assert dataflow.add("1", "Add", "Add-op0", ["0"]) == ()
