"""The language model of a soak run: plausible answers at random, errors among them."""

from __future__ import annotations

import random

from support.scripted_model import CANDIDATE, NEIGHBOR, NUMBERED, TURN, Script, fact
from support.scripted_openai import Cut, Hang, Raw, Refusal, Request, Scripted, Status

ERRORS: tuple[Scripted, ...] = (
    Status(500), Status(429), Raw("<html>busy</html>", "text/html"), Refusal(), Cut('{"fac'),
    Hang(2.0), {"facts": "none"}, "no JSON",
)  # fmt: skip


class RandomModel(Script):
    """Finds a fact in most texts of the user, and decides, merges and notices at random."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.chance = random.Random(f"{seed}/model")

    def __call__(self, request: Request) -> Scripted:
        if self.chance.random() < 0.05:
            return self.chance.choice(ERRORS)
        return super().__call__(request)

    def _extract(self, data: str) -> Scripted:
        said = [(int(turn[1]), turn[3]) for line in data.splitlines()
                if (turn := TURN.match(line)) and turn[2] == "user"]  # fmt: skip
        facts = [
            fact(text, turns=[number], tags=self.chance.choice([[], ["talk"], ["food"]]),
                 slot=self.chance.choice([None, None, None, "hobby"]))
            for number, text in said if self.chance.random() < 0.6
        ]  # fmt: skip
        episodes = [{"content": f"Talked about: {text}", "turns": [number]}
                    for number, text in said[:1]]  # fmt: skip
        return {"facts": facts, "episodes": episodes}

    def _consolidate(self, data: str) -> Scripted:
        """Decide on each candidate; never touch a memory that an actor says is private."""
        decisions: list[dict[str, object]] = []
        for line in data.splitlines():
            if candidate := CANDIDATE.match(line):
                decisions.append(
                    {"candidate": int(candidate[1]), "decision": "ADD", "target": None}
                )
            elif (near := NEIGHBOR.match(line)) and " is private" not in near[2]:
                verb = self.chance.choice(["ADD", "ADD", "UPDATE", "DELETE", "NONE"])
                if verb in ("UPDATE", "DELETE"):
                    decisions[-1] |= {"decision": verb, "target": int(near[1])}
                elif verb == "NONE":
                    decisions[-1] |= {"decision": verb, "target": None}
        return {"decisions": decisions}

    def _merge(self, data: str) -> Scripted:
        shown = [(int(number), text) for number, text in NUMBERED.findall(data)]
        if len(shown) < 2:
            return {"merges": []}
        (one, first), (two, second) = self.chance.sample(shown, 2)
        return {"merges": [{"content": f"{first} {second}"[:3900], "parts": [one, two]}]}

    def _pattern(self, data: str) -> Scripted:
        shown = NUMBERED.findall(data)
        solutions = [{"episode": int(number), "solution": "to talk"} for number, _ in shown[:1]]
        return {"pattern": "talks a lot" if shown else None, "solutions": solutions, "tags": []}
