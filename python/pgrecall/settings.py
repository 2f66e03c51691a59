"""Settings from the environment: variables that begin with `PGRECALL_`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from pgrecall._limits import Limits

if TYPE_CHECKING:
    from pgrecall.encryption import LocalWrappingKeys

__all__ = ["Settings"]


class Settings(BaseSettings):
    """The environment of the driver.

    Attributes:
        dsn: `PGRECALL_DSN`: where writes go; None is the embedded server.
        history_dsn: `PGRECALL_HISTORY_DSN`: for reading sessions and messages.
        memory_dsn: `PGRECALL_MEMORY_DSN`: for searches and contexts.
        worker_dsn: `PGRECALL_WORKER_DSN`: for workers.
        home: `PGRECALL_HOME`: the folder of the embedded server.
        statement_timeout: `PGRECALL_STATEMENT_TIMEOUT`: seconds, 0 is none.
        idle_timeout: `PGRECALL_IDLE_TIMEOUT`: seconds a transaction may do nothing, 0 is no limit.
        max_connections: `PGRECALL_MAX_CONNECTIONS`: of each pool.
        pooler: `PGRECALL_POOLER`: whether the server stands behind a transaction pooler: `on`,
            `off`, or `auto`, which finds out.
        max_lag: `PGRECALL_MAX_LAG`: seconds by which a standby may lag, else the primary is read.
        wrapping_keys: `PGRECALL_WRAPPING_KEYS`: key encryption keys, `name:base64` each.
        wrapping_key_file: `PGRECALL_WRAPPING_KEY_FILE`: a file of the same.
        sealed: `PGRECALL_SEALED`: `require` refuses users who are not encrypted.
    """

    model_config = SettingsConfigDict(env_prefix="PGRECALL_", env_ignore_empty=True)

    dsn: str | None = Field(default=None, repr=False)
    history_dsn: str | None = Field(default=None, repr=False)
    memory_dsn: str | None = Field(default=None, repr=False)
    worker_dsn: str | None = Field(default=None, repr=False)
    home: Path | None = None
    statement_timeout: float = Field(default=5.0, ge=0)
    idle_timeout: float = Field(default=30.0, ge=0)
    max_connections: int = Field(default=8, ge=1)
    pooler: Literal["auto", "on", "off"] = "auto"
    max_lag: float = Field(default=10.0, ge=0)
    wrapping_keys: SecretStr | None = None
    wrapping_key_file: Path | None = None
    sealed: Literal["require"] | None = None

    def keys(self) -> LocalWrappingKeys | None:
        """Return the key encryption keys, None when there are none."""
        if self.wrapping_key_file is not None:
            from pgrecall.encryption import LocalWrappingKeys

            return LocalWrappingKeys.from_file(self.wrapping_key_file)
        if self.wrapping_keys is not None:
            from pgrecall.encryption import LocalWrappingKeys

            return LocalWrappingKeys.from_text(self.wrapping_keys.get_secret_value())
        return None

    def other_dsns(self) -> dict[str, Any]:
        """Return the DSNs beside `dsn`, as `AgentMemory.connect` takes them."""
        return {
            "history_dsn": self.history_dsn,
            "memory_dsn": self.memory_dsn,
            "worker_dsn": self.worker_dsn,
        }

    def limits(self) -> Limits:
        """Return the timeouts and sizes."""
        return Limits(
            statement_timeout=self.statement_timeout,
            idle_timeout=self.idle_timeout,
            max_connections=self.max_connections,
            pooler=None if self.pooler == "auto" else self.pooler == "on",
            max_lag=self.max_lag,
        )
