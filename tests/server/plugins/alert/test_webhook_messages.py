"""Messages in the format of each service."""

from typing import Any

from mindinsight.server.plugins.alert.webhook_messages import plain_text, webhook_body


def alert(number: int, **fields: Any) -> dict[str, Any]:
    plain = {
        "id": f"./a|not_finite|loss|{number}",
        "run": "./a",
        "level": "error",
        "step": number,
        "title": "",
        "text": "",
        "condition": "not_finite",
        "limit": 0.0,
        "tag": "loss<1>",
        "value": "nan",
        "stray": None,
    }
    return {**plain, **fields}


def test_each_service_has_its_own_envelope() -> None:
    alerts = [alert(3)]
    text = "MindInsight\n🔴 ./a: loss<1> is nan (step 3)\nhttp://h:1/alert"
    assert plain_text(alerts, "http://h:1/") == text
    assert webhook_body("json", alerts, "http://h:1/")["alerts"] == alerts
    assert webhook_body("slack", alerts, "http://h:1/") == {"text": text.replace("<1>", "&lt;1&gt;")}
    assert webhook_body("feishu", alerts, "http://h:1/") == {"msg_type": "text", "content": {"text": text}}
    assert webhook_body("dingtalk", alerts, "http://h:1/") == {"msgtype": "text", "text": {"content": text}}


def test_every_sort_of_alert_has_a_line() -> None:
    lines = plain_text(
        [
            alert(1, condition=None, title="Bad batch", text="rank 3", level="warning"),
            alert(2, condition="above", value=12.5, limit=10.0),
            alert(3, condition="silent", tag=None, value=None, limit=5.0),
            alert(4, condition="strays", stray={"kind": "not_finite"}),
            alert(5, condition="strays", stray={"kind": "lasting", "other": 1}),
        ],
        "",
    ).split("\n")
    assert lines[1:6] == [
        "🟠 ./a: Bad batch (step 1) – rank 3",
        "🔴 ./a: loss<1> is 12.5, above 10 (step 2)",
        "🔴 ./a: Nothing written for 5 minutes, and the run has not finished (step 3)",
        "🔴 ./a: loss<1>: not finite (step 4)",
        "🔴 ./a: loss<1>: two ranks differ from each other since step 5; which of them is wrong is unknown",
    ]


def test_many_alerts_are_ten_lines_and_a_number() -> None:
    lines = plain_text([alert(number) for number in range(13)], "").split("\n")
    assert len(lines) == 13
    assert lines[-2] == "3 more alerts"
