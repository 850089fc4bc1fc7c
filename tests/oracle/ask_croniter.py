#!/usr/bin/env python3
"""Writes what croniter makes of random expressions: tests/data/vectors/croniter.tsv, or, with another
seed, as many lines again for the test that asks it anew (tests/other/oracle.rs):

    ask_croniter.py [SEED [LINES]]

Regenerate the recorded file, from the root of the repository:

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install croniter==6.0.0
    /tmp/oracle/bin/python tests/oracle/ask_croniter.py > tests/data/vectors/croniter.tsv

The seed is given or fixed, so the same croniter writes the same lines. A line is an id, the base instant, the
answer and the expression, separated by tabs. The answer is `bad` for an expression that is refused,
else the seconds to the first match and on to the next two; `none` ends it where there is no match.
"""

import random
import signal
import sys
from datetime import datetime, timedelta

from croniter import croniter

SEED = 20260617
LINES = 4000
RANGES = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7), (0, 59), (1970, 2099)]
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
DAYS = "sun mon tue wed thu fri sat".split()
ODD = (
    "? -5 5- 1-2-3 */ /5 5/ *-5 */5/5 x h *,5 1--5 jan mon 1_0 +5 \uff15 1.5 L-1 LW 15W W l/2 5#6 5#0"
).split()
NICKNAMES = "@daily @HOURLY @yearly @midnight @weekly @monthly @annually @reboot @foo".split()


def value(draw, field):
    low, high = RANGES[field]
    chance = draw.random()
    if field == 3 and chance < 0.15:
        return draw.choice(MONTHS)
    if field == 4 and chance < 0.15:
        return draw.choice(DAYS).upper()
    if field == 6:
        return str(draw.choice([2026, 2027, 2030, 2075, 2076, 2077, 2099, 2100, 1970, draw.randint(low, high)]))
    if chance < 0.02:
        return str(draw.choice([low - 1, high + 1, high + 2, 100]))
    return ("0" if chance < 0.05 else "") + str(draw.randint(low, high))


def item(draw, field):
    chance = draw.random()
    if chance < 0.12:
        return "*"
    if chance < 0.27:
        return "*/" + str(draw.choice([1, 2, 3, 5, 7, 10, 15, 20, 30, 90]))
    if chance < 0.47:
        step = "/" + str(draw.randint(1, 12)) if draw.random() < 0.4 else ""
        return value(draw, field) + "-" + value(draw, field) + step
    if chance < 0.53:
        return value(draw, field) + "/" + str(draw.randint(1, 30))
    if chance < 0.60 and field == 2:
        return draw.choice(["L", "l", "1-L", "5-L/3"])
    if chance < 0.60 and field == 4:
        return draw.choice("L5 l0 L6 5#2 mon#1 MON-WED#3 L5,L6 sun#5 fri#5".split())
    if chance < 0.61:
        return draw.choice(ODD)
    return value(draw, field)


def expression(draw):
    if draw.random() < 0.02:
        return draw.choice(NICKNAMES)
    count = draw.choice([5] * 8 + [6, 6, 7, 7, 4, 8])
    fields = []
    for position in range(count):
        field = min(position, 6)
        many = 1 if draw.random() < 0.7 else draw.randint(2, 4)
        star = draw.random() < 0.45
        fields.append("*" if star else ",".join(item(draw, field) for _ in range(many)))
    return " ".join(fields)


def answer(text, base):
    try:
        matches = croniter(text, base)
    except Exception:
        return "bad"
    steps, last = [], base
    for _ in range(3):
        try:
            found = matches.get_next(datetime)
        except Exception:
            steps.append("none")
            break
        steps.append(exact(found - last))
        last = found
    return " ".join(steps)


def exact(step):
    whole = step // timedelta(microseconds=1)
    seconds, micros = divmod(whole, 1_000_000)
    return f"{seconds}.{micros:06}" if micros else str(seconds)


def main():
    seed, lines = ([int(word) for word in sys.argv[1:]] + [SEED, LINES][len(sys.argv) - 1 :])[:2]
    draw = random.Random(seed)

    def stop(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    line = 0
    while line < lines:
        text = expression(draw)
        base = datetime(2026, 1, 1) + timedelta(seconds=draw.randint(0, 86400 * 1500))
        if draw.random() < 0.3:
            base = base.replace(second=0, minute=draw.choice([0, 30]))
        if draw.random() < 0.1:
            base = base.replace(microsecond=draw.randint(1, 999999))
        signal.setitimer(signal.ITIMER_REAL, 5)
        try:
            said = answer(text, base)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if said == "bad" and draw.random() < 0.6:
            continue
        line += 1
        print(f"orc-{line:04}", base.isoformat(), said, text, sep="\t")


if __name__ == "__main__":
    main()
