"""The programs of TEF-SPARQL's paper, as corrected, on streams whose answers are worked out by hand."""

from __future__ import annotations

from oracle.tef_sparql_notation import (
    all_constructed,
    all_facts,
    also,
    answers,
    at,
    construct,
    during,
    event,
    fact,
    init,
    onend,
    onstart,
    replace,
    select,
    seq,
    since,
    union,
    until,
)
from oracle.tef_sparql_query import Statement

BACH = construct(
    "?person liveIn ?place",
    since("?person bornIn ?place"),
    replace("?person liveIn ?old", "?person relocatedTo ?place , ?place != ?old"),
    until(during("?person diedIn ?somewhere", "?person liveIn ?place")),
)
BACHS_LIFE = """
    1685: bach bornIn eisenach
    1695: bach relocatedTo ohrdruf
    1700: bach relocatedTo lueneburg
    1703: bach relocatedTo weimar
    1703: bach relocatedTo arnstadt
    1707: bach relocatedTo muehlhausen
    1708: bach relocatedTo weimar
    1717: bach relocatedTo koethen
    1723: bach relocatedTo leipzig
    1750: bach diedIn leipzig"""


def test_bach_has_eight_homes_and_weimar_of_1703_never_held() -> None:
    assert all_facts(BACH, BACHS_LIFE) == [
        "bach liveIn eisenach 1685-1695",
        "bach liveIn ohrdruf 1695-1700",
        "bach liveIn lueneburg 1700-1703",
        "bach liveIn arnstadt 1703-1707",
        "bach liveIn muehlhausen 1707-1708",
        "bach liveIn weimar 1708-1717",
        "bach liveIn koethen 1717-1723",
        "bach liveIn leipzig 1723-1750",
    ]


def test_before_bachs_death_his_last_home_is_open() -> None:
    assert all_facts(BACH, BACHS_LIFE, until=1750)[-1] == "bach liveIn leipzig 1723-"
    assert answers([BACH, select("place", "?person liveIn ?place")], BACHS_LIFE) == [
        *("1685 place=eisenach", "1695 place=ohrdruf", "1700 place=lueneburg", "1703 place=arnstadt"),
        *("1707 place=muehlhausen", "1708 place=weimar", "1717 place=koethen", "1723 place=leipzig"),
    ]


SHOP = [
    construct("?person hasInBasket ?book", since("?person adds ?book"), until("?person removes ?book")),
    construct(
        "?book hasPrice ?price",
        since("?book priced ?price"),
        replace("?book hasPrice ?old", "?book repriced ?price"),
    ),
    construct("?person accountCovers ?price", since("?person deposits ?price"), until("?person spends ?price")),
    construct(
        "?person buys ?book , ?person accountCharge ?price",
        during(
            "?person presses buy",
            "?person hasInBasket ?book , ?book hasPrice ?price , ?person accountCovers ?price",
        ),
    ),
]


def test_the_online_shop_sells_what_is_in_the_basket_at_the_current_price() -> None:
    events = """
        1: ann adds sicp . sicp priced 30 . ann deposits 30
        2: ann presses buy
        3: sicp repriced 40
        4: ann presses buy
        5: ann deposits 40
        6: ann removes sicp . ann presses buy
        7: ann adds sicp
        7: ann presses buy"""
    assert all_constructed(SHOP, events) == [
        "2 ann accountCharge 30 . ann buys sicp",
        "7 ann accountCharge 40 . ann buys sicp",
    ]


def test_the_movie_cache_holds_from_the_announcement_to_the_end() -> None:
    kept = "?movie stars ?actor"
    cache = fact(
        "?movie cached ?actor",
        since(during("?channel willShowNext ?movie", kept)),
        until(during("?channel finishes ?movie", kept)),
    )
    events = "1: srf willShowNext jaws\n5: srf starts jaws\n9: srf finishes jaws\n9: ard finishes psycho"
    background = "jaws stars scheider . jaws stars shaw . psycho stars perkins"
    assert all_facts(cache, events, background) == ["jaws cached scheider 1-9", "jaws cached shaw 1-9"]


def test_a_schedule_catches_things_before_the_scheduled_start() -> None:
    program: list[Statement] = [
        fact(
            "?show scheduled ?time",
            since("?show isScheduledToStartAt ?time"),
            until(during("?_ finishes ?show", "?show scheduled ?time")),
        ),
        fact("?show soon ?time", "?show scheduled ?time , now() > ?time - 3"),
        select("show", "?show soon ?time"),
    ]
    events = "1: jaws isScheduledToStartAt 10 . psycho isScheduledToStartAt 2\n20: srf finishes jaws"
    assert answers(program, events) == ["1 show=psycho", "8 show=jaws"]
    assert all_facts(program, events, of="soon") == ["psycho soon 2 1-", "jaws soon 10 8-20"]


def ten_days(days: int) -> list[Statement]:
    return [
        fact(
            "?t sumMember ?p",
            since("?t price ?p"),
            until(also(during("?t price ?_[?_,?tn]", "?t sumMember ?p[?t0,?_]"), f"duration(?t0,?tn) > {days}")),
        ),
        fact(
            "?t sum ?s",
            replace("?t sum ?o", "?t price ?p , ?s = ?o + ?p"),
            replace("?t sum ?o", also(onend("?t sumMember ?p"), "?s = ?o - ?p")),
            init("?t rdf:type Ticker , ?s = 0"),
        ),
        fact(
            "?t count ?c",
            replace("?t count ?o", "?t price ?p , ?c = ?o + 1"),
            replace("?t count ?o", also(onend("?t sumMember ?p"), "?c = ?o - 1")),
            init("?t rdf:type Ticker , ?c = 0"),
        ),
        fact("?t average ?a", "?t sum ?s , ?t count ?c , ?c > 0 , ?a = ?s / ?c"),
    ]


def test_the_ten_day_average_forgets_old_prices() -> None:
    events = "1: acme price 10\n3: acme price 20\n12: acme price 30\n14: acme price 70"
    found = all_facts(ten_days(10), events, "acme rdf:type Ticker", of="average")
    # at 12 the price of 1 is 11 days old; at 14 that of 3 is
    assert found == ["acme average 10 1-3", "acme average 15 3-12", "acme average 25 12-14", "acme average 50 14-"]


def test_two_outdated_members_are_both_subtracted() -> None:
    events = "1: acme price 10\n2: acme price 20\n13: acme price 30"
    found = all_facts(ten_days(10), events, "acme rdf:type Ticker", of="average sum")
    assert found[-2:] == ["acme average 30 13-", "acme sum 30 13-"]


VIEWERS = [
    fact(
        "?channel viewers ?n",
        also(replace("?channel viewers ?n1", "?_ joins ?channel"), "?n = ?n1 + 1"),
        also(replace("?channel viewers ?n2", "?_ leaves ?channel"), "?n = ?n2 - 1"),
        init("?channel rdf:type TV-Channel , ?n = 0"),
    ),
    fact("?channel shows ?show", since("?channel starts ?show"), until("?channel finishes ?show")),
]
WATCHING = """
    1: ann joins srf
    1: bob joins srf
    10: srf starts jaws
    15: eve joins srf
    17: eve leaves srf
    20: srf finishes jaws
    21: bob leaves srf"""


def test_the_number_of_viewers_is_a_fact() -> None:
    found = all_facts(VIEWERS, WATCHING, "srf rdf:type TV-Channel", of="viewers")
    assert found == ["srf viewers 2 1-15", "srf viewers 3 15-17", "srf viewers 2 17-21", "srf viewers 1 21-"]


def test_the_maximum_of_viewers_sees_a_later_rise() -> None:
    maximum = [
        *VIEWERS,
        fact(
            "?show maxViewers ?m",
            since(during("?channel starts ?show", "?channel viewers ?m")),
            replace(
                "?show maxViewers ?o", also(during(onstart("?channel viewers ?m"), "?channel shows ?show"), "?m > ?o")
            ),
            until(during("?channel finishes ?show", "?show maxViewers ?m")),
        ),
        event("?show maximumViewer ?n", during("?channel finishes ?show", "?show maxViewers ?n")),
    ]
    assert all_constructed(maximum, WATCHING, "srf rdf:type TV-Channel") == ["20 jaws maximumViewer 3"]


def test_the_average_of_viewers_weighs_each_stretch_within_the_show() -> None:
    """2 viewers from 0, show 10-20, a third at 15: 2.5."""
    average = [
        *VIEWERS,
        fact(
            "?channel showing ?show",
            since("?channel starts ?show"),
            until("?channel finishes ?show"),
        ),
        fact(
            "?show weighted ?w",
            since("?channel starts ?show , ?w = 0"),
            # a stretch that began before the show, and one within it
            replace(
                "?show weighted ?o",
                also(
                    during(onend("?channel viewers ?n[?s,?e]"), "?channel showing ?show[?b,?_]"),
                    "?s < ?b",
                    "?d = duration(?b,?e)",
                    "?p = ?n * ?d",
                    "?w = ?o + ?p",
                ),
            ),
            replace(
                "?show weighted ?o",
                also(
                    during(onend("?channel viewers ?n[?s,?e]"), "?channel showing ?show[?b,?_]"),
                    "?s >= ?b",
                    "?d = duration(?s,?e)",
                    "?p = ?n * ?d",
                    "?w = ?o + ?p",
                ),
            ),
        ),
        event(
            "?show average ?a",
            also(
                during(
                    "?channel finishes ?show[?_,?e]",
                    "?show weighted ?o[?_,?_] , ?channel viewers ?n[?s,?_] , ?channel showing ?show[?b,?_]",
                ),
                "?s >= ?b",
                "?d = duration(?s,?e)",
                "?p = ?n * ?d",
                "?w = ?o + ?p",
                "?t = duration(?b,?e)",
                "?a = ?w / ?t",
            ),
        ),
    ]
    events = """
        0: ann joins srf
        0: bob joins srf
        10: srf starts jaws
        15: eve joins srf
        20: srf finishes jaws"""
    assert all_constructed(average, events, "srf rdf:type TV-Channel") == ["20 jaws average 2.5"]


PRICES = also(
    at(seq("?c price ?p1", "?c price ?p2", "?c price ?p3"), "?s", "?e"),
    "?p2 < ?p1 * 0.7",
    "?p3 > ?p1 * 1.05",
    "duration(?s,?e) < 30",
)
CENTS = [*range(100, 90, -1), *range(50, 60), *range(120, 130)]
MARKET = "\n".join(f"{day}: ibm price {price}" for day, price in enumerate(CENTS, start=1))


def test_volatile_share_has_1000_rows_100_a_day() -> None:
    found = answers(select("c", PRICES), MARKET)
    assert len(found) == 1000
    assert {line.split("-")[1] for line in found} == {f"{day} c=ibm" for day in range(21, 31)}
    assert len(answers(select("c", PRICES, distinct=True), MARKET)) == 100


def test_volatile_share_once_per_company_has_1_row_and_per_company_and_day_10() -> None:
    assert answers(select("c", PRICES, per="?c"), MARKET) == ["1-21 c=ibm"]
    assert answers(select("c", PRICES, per="?c , now()"), MARKET) == [f"1-{day} c=ibm" for day in range(21, 31)]


def test_a_constructed_volatile_share_is_one_event_a_row() -> None:
    assert all_constructed(event("?c isa volatile", PRICES, per="?c"), MARKET) == ["1-21 ibm isa volatile"]


def test_example_4_3_1_the_union_keeps_common_variables() -> None:
    program: list[Statement] = [
        fact("?x inCity ?y", since("?x movesToCity ?y")),
        fact("?x inVillage ?z", since("?x movesToVillage ?z")),
        select("x", union("?x inCity ?y", "?x inVillage ?z")),
    ]
    assert answers(program, "1: ann movesToCity bern\n2: bob movesToVillage trub") == ["1 x=ann", "2 x=bob"]
