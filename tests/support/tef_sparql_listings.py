"""The listings of the TEF-SPARQL paper; those that are misprinted, as they are printed and mended."""

from __future__ import annotations

BACH = """
CONSTRUCT ?Person liveIn ?Place
  WHERE (SINCE ?Person bornIn ?Place)
  UNION
  (REPLACE ?Person liveIn ?OldPlace
    ON ?Person relocatedTo ?Place,
    ?Place != OldPlace)
  UNION
  (TILL (?Person diedIn ?SomeWhere
    HAPPENSWHILE ?Person liveIn ?Place))
"""
"""Section 3.2; `OldPlace` lacks its question mark."""

SHOP = """
CONSTRUCT ?Person buys ?Book, ?Person accountCharge ?Price WHERE
  (?Person presses "BuyButton")
  DURING
  (?Person hasInShoppingBasket ?Book,
   ?Book hasPrice ?Price,
   ?Person accountCovers ?Price)
"""
"""Section 3.2."""

BINDS = """
SELECT ?x WHERE
(?x type CommonStock, ?x hasValue ?y) BIND ?y = 2*?x
UNION
(?x type PreferredStock, ?x hasValue ?y) BIND ?y = 2*?x
"""
"""Section 4.3, in a SELECT."""

CACHE = """
CONSTRUCT ?Movie hasGenre ?Genre
  WHERE ((SINCE ?Channel willShowNext ?Movie)
         UNION
         (TILL ?Channel finishes ?Movie)
        )
  DURING
  (?Movie genre ?Genre)
"""
"""Section 5.1, with triples for what is in words."""

SCHEDULE = """
SELECT ?Show WHERE (?Show isScheduledToStartAt ?DateTime, now() > ?DateTime - "PT1H")
"""
"""Section 5.1."""

TEN_DAY = """
CONSTRUCT ?Ticker sumMember ?P,
           ?Ticker sum ?NSum,
           ?Ticker count ?NCount,
    ?Ticker tenDayAverage ?NSum/?NCount
WHERE REPLACE(?Ticker sum ?Sum,
              ?Ticker count ?Count.
              ?Ticker tenDayAverage ?_)
    ON (?Ticker :hasStockPrice ?price[?_,?TN],
        WITHOUT (Ticker sumMember ?OP[?T0,?_],
                 duration(?T0, ?TN) > 10d),
        ?NSum = Sum + ?price, ?NCount = Count +1)
"""
"""Section 5.2; `Sum`, `Count` and `Ticker` lack their question marks, and nothing binds ?P."""

TEN_DAY_SECOND = """
CONSTRUCT ?Ticker sum ?NSum,
          ?Ticker count ?NCount
WHERE (REPLACE(Ticker sumMember ?OP[?T0,?_],
              ?Ticker sum ?Sum,
              ?Ticker count ?Count)
    ON (?Ticker :hasStockPrice ?_[?_,?TN,
        duration(?T0, ?TN) > 10d),
        ?NSum = ?Sum - ?OP, ?NCount = ?Count -1)
"""
"""Section 5.2; a bracket and a parenthesis are missing."""

TEN_DAY_SECOND_MENDED = TEN_DAY_SECOND.replace("[?_,?TN,", "[?_,?TN],")

VIEWERS = """
CONSTRUCT FACT ?Channel currentNoOfViewers ?N WHERE
  (REPLACE ?Channel currentNoOfViewers ?N1
    ON ?_ joins ?Channel), ?N = ?N1+1
UNION
  (REPLACE ?Channel currentNoOfViewers ?N2
    ON ?_ leaves ?Channel), ?N = ?N2-1
UNION
  ((?Channel rdf:type TV-Channel, ?N = 0) ON INIT)
"""

SHOWS = """
CONSTRUCT FACT ?Channel shows ?Show WHERE
  (SINCE ?Channel starts ?Show)
UNION
  (UNTIL ?Channel finishes ?Show)
"""

MAXIMUM = """
CONSTRUCT EVENT ?Show maximumViewer ?N WHERE
  (((?Channel starts ?Show
    BEFORE ?Channel finishes ?Show
  ) WITH (?Channel currentNoOfViewers ?N)
  ) WITHOUT
  ((ONSTART ?Channel currentNoOfViewers ?HN)
  DURING ?Channel shows ?Show, ?HN > ?N)
  )
"""

AVERAGE = """
CONSTRUCT EVENT ?Show averageNoOfViewers ?N WHERE
  ((?Channel starts ?Show),
  ((?Channel finishes ?Show)
  WITH (?Show weightedSumOfViewers ?S))) [?ST,?ET],
  ?N = ?S/duration(?ST,?ET)
"""

WEIGHTED = """
CONSTRUCT FACT ?Show weightedSumOfViewers ?S WHERE
  (REPLACE ?Channel weightedSumOfViewers ?OS
    ON (ONEND ?Channel currentNoOfViewers ?N[?ST,?ET]),
    ?S = ?OS + ?N*duration(?ST,?ET))
UNION
  ((SINCE ?Channel starts ?Show, ?S = 0)
"""
"""Section 5.2; one parenthesis too many."""

WEIGHTED_MENDED = WEIGHTED.replace("((SINCE", "(SINCE")

VOLATILE = """
CONSTRUCT ?company owl:ISA VolatileShare
  ONCE PER ?company, fn:day-from-dateTime(now())
  WHERE
  ({ ?company hasStockPrice ?price1 }
  SEQ { ?company hasStockPrice ?price2 }
  SEQ { ?company hasStockPrice ?price3 })[?s, ?e]
FILTER ( ?price2 < ?price1 * 0.7 &&
         ?price3 > ?price1 * 1.05 &&
         duration(?s, ?e) < 30d)
"""
"""Section 5.3: EP-SPARQL's query with ONCE PER, and duration() in place of getDURATION()."""

READ = {
    "Bach": BACH,
    "shop": SHOP,
    "binds": BINDS,
    "schedule": SCHEDULE,
    "ten-day average": TEN_DAY,
    "ten-day average, second": TEN_DAY_SECOND_MENDED,
    "viewers": VIEWERS,
    "shows": SHOWS,
    "maximumViewer": MAXIMUM,
    "averageNoOfViewers": AVERAGE,
    "weightedSumOfViewers": WEIGHTED_MENDED,
    "volatile share": VOLATILE,
}
