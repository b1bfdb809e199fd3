from aggregator.api.docs import Member, Parameter, marked, operations_of


def test_what_stands_between_backticks_is_code_and_everything_is_escaped():
    assert str(marked("`a<b` or `c` & d")) == ("<code>a&lt;b</code> or <code>c</code> &amp; d")


def test_a_backtick_that_nothing_closes_stands_for_itself():
    assert str(marked("`a` or `b")) == "<code>a</code> or `b"
    assert str(marked("plain")) == "plain"


def test_members_of_what_is_asked_and_answered_stand_with_what_they_are():
    text = {"type": "string", "description": "why"}
    asked = {"properties": {"why": text, "by": {"type": "string"}}, "required": ["why"]}
    answered = {"properties": {"silence": {"type": "integer", "description": "its number"}}}
    reference = {"schema": {"$ref": "#/components/schemas/Silence"}}
    told = {
        "requestBody": {"content": {"application/json": {"schema": asked}}},
        "responses": {"201": {"content": {"application/json": reference}}},
        "security": [{"token": []}],
    }
    lines = {"responses": {"200": {"content": {"text/csv": {"schema": {"type": "string"}}}}}}

    post, get = operations_of(
        {
            "paths": {"/a": {"post": told}, "/b": {"get": lines}},
            "components": {"schemas": {"Silence": answered}},
        }
    )

    assert post.members == (Member(name="silence", text="its number"),)
    token, *members = post.parameters
    assert (token.name, token.where, token.needed) == ("Authorization", "header", True)
    assert members == [
        Parameter(name="why", where="body", needed=True, text="why"),
        Parameter(name="by", where="body", needed=False, text=""),
    ]
    assert (get.members, get.parameters, get.answers) == ((), (), ("200",))


def test_the_words_that_a_parameter_may_be_are_told_and_whether_it_may_be_repeated():
    several = {"anyOf": [{"type": "array", "items": {"$ref": "#/c/Load"}}, {"type": "null"}]}
    told = {
        "parameters": [
            {"name": "load", "in": "query", "schema": several},
            {"name": "format", "in": "query", "schema": {"$ref": "#/c/Form"}},
            {"name": "limit", "in": "query", "schema": {"type": "integer"}},
        ]
    }
    words = {"Load": {"enum": ["single", "parallel"]}, "Form": {"enum": ["jsonl", "csv"]}}

    (operation,) = operations_of({"paths": {"/a": {"get": told}}, "components": {"schemas": words}})

    assert [one.words for one in operation.parameters] == [
        ("single", "parallel"),
        ("jsonl", "csv"),
        (),
    ]
    assert [one.several for one in operation.parameters] == [True, False, False]
