from dataclasses import replace

from support.incidents import MINUTE, NOON, make_incident, make_part

from aggregator.incident_texts import state_of, title_of
from pacewatch.words.verdict import Blame, UnusualEnd


def test_trouble_of_our_own_workers_is_not_told_as_that_of_the_endpoint_that_met_it():
    incident = make_incident(provider="", region="eu-west", blame=Blame.PROBER)

    assert title_of(incident) == "our workers in eu-west: output 2.0 times slower than usual"


def test_what_is_about_as_usual_is_trouble_by_a_limit_alone():
    incident = make_incident(make_part(ratio=1.02))

    assert title_of(incident) == "groq/gpt-oss-120b: output slower than its limit"


def test_what_eased_is_told_to_be_as_usual_only_where_it_is():
    eased = make_incident(state="eased", eased_at=NOON - 5 * MINUTE)
    unheard = replace(eased, unusual_end=UnusualEnd.UNHEARD)

    assert state_of(eased, NOON) == "as usual again for 5 min"
    assert state_of(unheard, NOON) == "eased 5 min ago: nothing was heard of it any more"
