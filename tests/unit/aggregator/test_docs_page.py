from aggregator.api.docs import marked


def test_what_stands_between_backticks_is_code_and_everything_is_escaped():
    assert str(marked("`a<b` or `c` & d")) == ("<code>a&lt;b</code> or <code>c</code> &amp; d")


def test_a_backtick_that_nothing_closes_stands_for_itself():
    assert str(marked("`a` or `b")) == "<code>a</code> or `b"
    assert str(marked("plain")) == "plain"
