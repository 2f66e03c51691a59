# Made from _async/users.py by `make generate`; change that file, not this.
"""Make, wrap and exchange the data keys of encrypted users.

`AgentMemory.seal_user` and its neighbours say what each function does, returns and raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pgrecall._runtime import SyncRuntime
from pgrecall._sql import UNSET, Call, Unset
from pgrecall._sync.base import LONG_TIMEOUT
from pgrecall.encryption._keys import NO_KEYS_HINT, UserKeys, new_data_key
from pgrecall.encryption._sealed import resealed
from pgrecall.encryption._sync.sealer import wrap_context
from pgrecall.errors import ConfigurationError, InvalidInputError, NotAllowedError

if TYPE_CHECKING:
    from pgrecall._sync.base import ClientBase, User
    from pgrecall._sync.database import SyncDatabase

__all__ = ["rewrap_user", "rewrap_users", "rotate_user", "seal_user"]

_ROTATION_ATTEMPTS = 20  # while others write by the old key
_MOST_LATE_ROWS = 1_000_000

Progress = Callable[[int], object]


def seal_user(memory: ClientBase, user: User, vectors: bool) -> bool:
    """Make a user's first data key; return False when the user has one."""
    sealer, wrapping = memory._guard.sealer(), memory._guard.wrapping
    if wrapping is None:
        raise ConfigurationError("there is no wrapping key to seal a user with", hint=NO_KEYS_HINT)
    user_id, name = memory.user_id(user), wrapping.current
    wrapped = SyncRuntime.in_thread(wrapping.wrap, name, new_data_key(), wrap_context(user_id, 1))
    is_new = memory._change_value(
        user_id, "seal_user", wrapped_key=wrapped, wrapping_key=name, with_vectors=vectors
    )
    sealer.forget(user_id)
    sealing = sealer.sealing(user_id)
    if sealing is not None and sealing.has_vectors != vectors:
        stored = "with" if sealing.has_vectors else "without"
        raise NotAllowedError(
            f"user {user_id} was sealed {stored} vectors, and stays so",
            hint="That is chosen once, before the first text.",
        )
    return bool(is_new)


def rewrap_user(memory: ClientBase, user: User) -> int:
    """Wrap a user's data keys by the current wrapping key; return how many were not."""
    sealer, wrapping = memory._guard.sealer(), memory._guard.wrapping
    user_id, count = memory.user_id(user), 0
    if sealer.sealing(user_id) is None or wrapping is None:
        raise _not_sealed(user_id)
    for number, wrapped, name in sealer.wrapped(user_id):
        if name == wrapping.current:
            continue
        context = wrap_context(user_id, number)
        key = SyncRuntime.in_thread(wrapping.unwrap, name, wrapped, context)
        rewrapped = SyncRuntime.in_thread(wrapping.wrap, wrapping.current, key, context)
        count += memory._change_value(
            user_id,
            "rewrap_user_key",
            key_no=number,
            previous=wrapped,
            wrapped_key=rewrapped,
            wrapping_key=wrapping.current,
        )
    return count


def rewrap_users(memory: ClientBase, progress: Progress | None) -> int:
    """Wrap all data keys of all users by the current wrapping key; return how many were not."""
    wrapping = memory._guard.wrapping
    if wrapping is None:
        raise ConfigurationError("there is no wrapping key to wrap by", hint=NO_KEYS_HINT)
    count, current = 0, wrapping.current
    failed: dict[UUID, ConfigurationError] = {}
    after: UUID | Unset = UNSET
    while True:
        call = Call.of("list_sealed_users", other_than=current, after_id=after)
        _, rows = memory._write.send(call, None, repeatable=True)
        if not rows:
            break
        for (user_id,) in rows:
            after = user_id
            try:
                count += rewrap_user(memory, user_id)
            except ConfigurationError as error:
                failed[user_id] = error
            except InvalidInputError:  # erased meanwhile
                continue
            if progress is not None:
                progress(count)
    if failed:
        user_id, first = next(iter(failed.items()))
        raise ConfigurationError(
            f"the data keys of {len(failed)} users stay as they are, such as of {user_id}: "
            f"{first.message}",
            hint=first.hint,
        )
    return count


def rotate_user(memory: ClientBase, user: User, batch_size: int, progress: Progress | None) -> int:
    """Exchange a user's data key; return how many rows were encrypted again."""
    user_id, sealer = memory.user_id(user), memory._guard.sealer()
    sealer.forget(user_id)
    sealing, wrapping = sealer.sealing(user_id), sealer.wrapping
    if sealing is None or wrapping is None:
        raise _not_sealed(user_id)
    if len(sealing.keys.numbers) == 1:
        number = 1 + max(row[0] for row in sealer.wrapped(user_id))
        context = wrap_context(user_id, number)
        wrapped = SyncRuntime.in_thread(wrapping.wrap, wrapping.current, new_data_key(), context)
        memory._change_value(
            user_id,
            "add_user_key",
            key_no=number,
            wrapped_key=wrapped,
            wrapping_key=wrapping.current,
        )
    count = 0
    for _ in range(_ROTATION_ATTEMPTS):
        sealer.forget(user_id)
        sealing = sealer.sealing(user_id)
        if sealing is None or len(sealing.keys.numbers) == 1:
            break
        try:
            count = _exchange_key(
                memory, user_id, sealing.keys, batch_size, count, progress or (lambda _: None)
            )
        except (ConfigurationError, InvalidInputError) as error:
            if error.diag.sqlstate is None:
                raise  # a text that does not open, not one that was written meanwhile
            last = error
    else:
        raise last
    sealer.forget(user_id)
    return count


def _exchange_key(
    memory: ClientBase,
    user_id: UUID,
    keys: UserKeys,
    batch_size: int,
    count: int,
    progress: Progress,
) -> int:
    """Encrypt again what the oldest key in use has encrypted, and remove that key."""
    oldest, newest = keys.numbers[0], keys.newest()

    def exchange(database: SyncDatabase, rows: list[Any], replaced_key: int | Unset = UNSET) -> int:
        made = [
            {"row_table": table, "row_key": key, "texts": texts,
             "new_texts": resealed(texts, keys, newest)}
            for table, key, texts in rows
        ]  # fmt: skip
        call = Call.of("reseal_rows", user_id=user_id, rows=made, replaced_key=replaced_key)
        _, done = database.send(call, user_id, repeatable=False, timeout=LONG_TIMEOUT)
        return int(done[0][0])

    def listed(database: SyncDatabase, **arguments: Any) -> list[Any]:
        call = Call.of("list_sealed_rows", user_id=user_id, key_no=oldest, **arguments)
        _, rows = database.send(call, user_id, repeatable=False, timeout=LONG_TIMEOUT)
        return rows

    after: Any = UNSET
    while rows := listed(memory._write, after=after, limit=batch_size):
        count += exchange(memory._write, rows)
        progress(count)
        after = {"row_table": rows[-1][0], "row_key": rows[-1][1]}
    with memory._write.transaction() as same:
        rows = listed(same, with_late=True, limit=_MOST_LATE_ROWS)
        count += exchange(same, rows, oldest)
    progress(count)
    return count


def _not_sealed(user_id: UUID) -> InvalidInputError:
    return InvalidInputError(f"user {user_id} is not sealed", hint="seal_user seals one.")
