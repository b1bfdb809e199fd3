from support.incidents import make_incident

from aggregator.incident_texts import title_of
from pacewatch.words.verdict import Blame


def test_trouble_of_our_own_workers_is_not_told_as_that_of_the_endpoint_that_met_it():
    incident = make_incident(provider="", region="eu-west", blame=Blame.PROBER)

    assert title_of(incident) == "our workers in eu-west: output 2.0 times slower than usual"
