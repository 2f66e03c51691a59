# %% [markdown]
# # Where the tokens of a context go
#
# A notebook in cells: VS Code and Jupytext open it, and `python examples/budget.py` runs it. It
# needs no key and no model; without PGRECALL_DSN an embedded server starts.

# %%
import uuid

from rich.console import Console
from rich.table import Table

from pgrecall import AgentMemory

memory = AgentMemory.from_environment()
user = f"budget-{uuid.uuid4()}"

# %% [markdown]
# A user with forty memories, and a conversation of thirty exchanges.

# %%
for number in range(40):
    memory.remember(user, f"User visited the museum of city {number} in {1980 + number}.")
chat = memory.session(
    user=user, model="gpt-4o-mini", system_prompt="You plan journeys.", extraction="none"
)
for number in range(30):
    chat.append(user=f"What about journey {number}? " * 5, reply=f"Journey {number} is fine. " * 5)


# %% [markdown]
# The same question within windows of three sizes. The parts compete: memories and history shrink
# with the window, the system prompt and the response do not.


# %%
def draw(window: int) -> None:
    """Draw the budget of a context as bars."""
    chat.update(context_window_size=window, max_response_tokens=500)
    compiled = chat.compile("Which museum did the user visit?")
    table = Table(title=f"window of {window:,} tokens", title_justify="left", box=None)
    parts = ("system", "memory", "recalled", "summary", "history", "response")
    for part in parts:
        tokens = int(compiled.budget.get(part) or 0)
        table.add_row(part, f"{tokens:,}", "█" * round(50 * tokens / window))
    free = window - int(compiled.budget["total"]) - int(compiled.budget["response"])
    table.add_row("free", f"{free:,}", "░" * round(50 * free / window))
    Console(width=90).print(table)
    left = sum(one.to_turn - one.from_turn + 1 for one in compiled.left_out)
    print(f"{len(compiled.memories)} memories shown, {left} turns left out\n")


for size in (2_000, 4_000, 16_000):
    draw(size)

# %% [markdown]
# Why a memory is shown or not:

# %%
chat.update(context_window_size=2_000)
for one in chat.explain("Which museum did the user visit?")[:3]:
    print(f"{one.score:.3f}  {one.reason or 'shown'}  {one.content}")

# %%
memory.privacy.forget_user(user)
memory.close()
