"""Decisions of the optimal deterministic policy, as a tree in words."""

from collections import Counter
from collections.abc import Iterator

from ratiolab.game.configurations import DONE, RUNNING, Configuration, Sort
from ratiolab.game.deterministic import Deterministic


def tree(found: Deterministic, lines: int = 200) -> Iterator[str]:
    """Yield the optimal policy as an indented tree; answers that attain the value have a star.

    Rounds in which nothing can be learned and the same requests run on are left out, and so is how
    the last request goes on: it runs to its end, and the output with the worst ratio is named.

    Parameters
    ----------
    lines : at most; the rest is counted.
    """
    board = found.arena
    pending: list[tuple[int, int, str, int, int, bool]] = [(0, 0, "", 0, 0, True)]
    shown = 0
    while pending:
        c, depth, event, now, cost, tight = pending.pop()
        if shown == lines:
            yield f"... and {len(pending) + 1} more branches"
            return
        star = " *" if tight and event else ""
        indent = "  " * depth
        shown += 1
        if board.unfinished[c] == 0:
            lengths = tuple(sort.bound for sort in board.configurations[c])
            optimum = found.game.optima[lengths]
            yield f"{indent}{event}: all done, latency {cost}, optimum {optimum}{star}"
            continue
        if board.unfinished[c] == 1 and event:
            yield f"{indent}{event}: {_last(found, c, cost)}{star}"
            continue
        action = found.best_action(c)
        words = _words(board.configurations[c], board.actions[action])
        yield f"{indent}{event + ': ' if event else ''}round {now}, {words}{star}"
        after = [int(board.target[k]) for k in board.outcomes(action)]
        now, cost = now + 1, cost + int(board.unfinished[c])
        while len(after) == 1 and board.unfinished[after[0]] and _goes_on(found, action, after[0]):
            action = found.best_action(after[0])
            after = [int(board.target[k]) for k in board.outcomes(action)]
            now, cost = now + 1, cost + int(board.unfinished[c])
        worst = max(found.table[t] for t in after)
        for t in sorted(after, key=lambda t: int(found.table[t])):
            pending.append(
                (
                    t,
                    depth + 1,
                    f"at {now} {_news(board.configurations[c], board.configurations[t])}",
                    now,
                    cost,
                    tight and found.table[t] == worst,
                )
            )


def _last(found: Deterministic, c: int, cost: int) -> str:
    """Return what becomes of the only request that is left, in the worst case."""
    configuration = found.arena.configurations[c]
    (last,) = (sort for sort in configuration if sort.state != DONE)
    done = [sort.bound for sort in configuration if sort.state == DONE]
    ends = []
    for output in range(max(last.bound + 1, found.game.lower), found.game.upper + 1):
        optimum = found.game.optima[tuple(sorted([*done, output]))]
        latency = cost + output - last.age
        ends.append((latency - found.value * optimum, output, latency, optimum))
    _, output, latency, optimum = max(ends)
    words = "runs on" if last.state == RUNNING else "starts"
    return (
        f"the last {words} (known > {last.bound}); worst output {output}: latency {latency}, "
        f"optimum {optimum}"
    )


def _goes_on(found: Deterministic, action: int, following: int) -> bool:
    """Return whether the next action keeps the requests of this one running, and no others."""
    board = found.arena
    following_action = board.actions[found.best_action(following)]
    before = Counter({(s.bound, s.age + 1): n for s, n in board.actions[action]})
    after = Counter({(s.bound, s.age): n for s, n in following_action})
    return all(s.state == RUNNING for s, _ in following_action) and before == after


def _words(configuration: Configuration, action: tuple[tuple[Sort, int], ...]) -> str:
    runs = Counter(dict(action))
    keep = [f"{n} go on at {s.age}" for s, n in action if s.state == RUNNING]
    begin = [
        f"{n} start" + (f" (known > {s.bound})" if s.bound else "")
        for s, n in action
        if s.state != RUNNING
    ]
    stop = [
        f"{n - runs[s]} stop at {s.age}"
        for s, n in Counter(configuration).items()
        if s.state == RUNNING and n > runs[s]
    ]
    return ", ".join(keep + stop + begin)


def _news(before: Configuration, after: Configuration) -> str:
    new = Counter(s.bound for s in after if s.state == DONE)
    new.subtract(Counter(s.bound for s in before if s.state == DONE))
    ended = [f"{n} end with {o}" for o, n in sorted(new.items()) if n]
    return ", ".join(ended) or "none ends"
