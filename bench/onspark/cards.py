"""Generated withdrawals with credit cards, as `examples/fraud.spaseq` (Query 2) takes them, in N-Quads."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

QUERY = Path(__file__).parents[2] / "examples" / "fraud.spaseq"
STREAM = "S1"
BACKGROUND = "http://creditcard.org/db"
CARDS = 1_000
_XSD = "http://www.w3.org/2001/XMLSchema#"
_TIME = "<http://www.w3.org/ns/prov#generatedAtTime>"
_BEGIN = datetime(2024, 5, 6, tzinfo=UTC)


def events(count: int, seed: int = 7) -> Iterator[str]:
    """`count` withdrawals, a second apart. A card is used once to six times before another one is; one time in four it
    begins with a large sum, after which the others are small."""
    draw = random.Random(seed)
    left, card, suspicious = 0, 0, False
    for number in range(count):
        first = not left
        if first:
            left, card, suspicious = draw.randint(1, 6), draw.randrange(CARDS), draw.random() < 0.25
        left -= 1
        amount = draw.randint(1_000, 5_000) if suspicious and first else draw.randint(10, 150 if suspicious else 900)
        event, place = f"<http://creditcard.org/event/t{number}>", f"<http://creditcard.org/card/{card}>"
        moment = f"{_BEGIN + timedelta(seconds=number):%Y-%m-%dT%H:%M:%SZ}"
        yield (
            f'{event} {_TIME} "{moment}"^^<{_XSD}dateTime> .\n'
            f"{place} <http://example/id> <http://creditcard.org/id/{card}> {event} .\n"
            f'{place} <http://example/amount> "{amount}"^^<{_XSD}integer> {event} .\n'
            f'{place} <http://example/loc> "Lyon" {event} .\n'
        )


def write(path: Path, count: int) -> None:
    with path.open("w") as file:
        file.writelines(events(count))


def write_pieces(folder: Path, count: int, together: int) -> None:
    """The same in files of so many events, each a second younger than the one before it."""
    folder.mkdir()
    file = None
    for number, event in enumerate(events(count)):
        if number % together == 0:
            if file is not None:
                file.close()
            path = folder / f"{number // together:05}.nq"
            file = path.open("w")
        assert file is not None
        file.write(event)
    if file is not None:
        file.close()
    in_order(folder)


def in_order(folder: Path) -> None:
    """Files are taken by their age: as they are named."""
    for age, path in enumerate(sorted(folder.iterdir())):
        os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))


def write_background(path: Path) -> None:
    """Every card has a holder but each tenth."""
    with path.open("w") as file:
        for card in range(CARDS):
            name = f"<http://creditcard.org/id/{card}>"
            file.write(f'{name} <http://example/holderAddress> "{card} rue du Lac" .\n')
            if card % 10:
                file.write(f'{name} <http://example/cardHolder> "Holder {card}" .\n')
