"""Keys of encrypted users: key encryption keys (KEK), data keys (DEK), and ciphertexts."""

from __future__ import annotations

import base64
import hmac
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol
from uuid import UUID

from pgrecall._ciphertext import PREFIX, TOKEN
from pgrecall._packages import pip_install_extra
from pgrecall._plain import INVISIBLE
from pgrecall.errors import ConfigurationError, InvalidInputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["LocalWrappingKeys", "Opened", "UnknownKeyError", "UserKeys", "WrappingKeys",
           "aes_gcm", "new_data_key"]  # fmt: skip

_COMPARED = {"slot", "tag", "task", "key", "value"}  # fields that the database compares
_NO_ROW = UUID(int=0)
_KEY_BYTES = 32
_NONCE_BYTES = 12
_WRONG_KEY = "Pass the key encryption key that wrapped the data keys of this user, under its name."
NO_KEYS_HINT = (
    "AgentMemory.connect(…, wrapping_keys=LocalWrappingKeys.from_file(…)); commands read the file "
    "that PGRECALL_WRAPPING_KEY_FILE names"
)


class WrappingKeys(Protocol):
    """A store of key encryption keys, such as a key management service.

    Its methods may ask the network: they are called once per user and process.
    """

    @property
    def current(self) -> str:
        """The name of the key that wraps what is new (1 to 200 characters, no secret)."""

    def wrap(self, name: str, data_key: bytes, context: bytes) -> bytes:
        """Return a data key encrypted by the key of that name, bound to the context."""

    def unwrap(self, name: str, wrapped: bytes, context: bytes) -> bytes:
        """Return the data key again.

        Raises:
            ConfigurationError: there is no key of that name, or it is another key.
        """


class LocalWrappingKeys:
    """Key encryption keys in this process: AES-256-GCM by keys of 32 bytes.

    The first key is the current one, the others open what they wrapped until it is wrapped anew
    (`AgentMemory.encryption.rewrap_user`).

    Args:
        keys: keys by name.
    """

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        if not keys:
            raise ConfigurationError("no key encryption key was given", hint=_HOW_TO_MAKE)
        for name, key in keys.items():
            if not 1 <= len(name) <= 200 or len(key) != _KEY_BYTES:
                raise ConfigurationError(
                    f"key encryption key {name[:200]!r} is not 32 bytes long, or its name is not 1 "
                    "to 200 characters",
                    hint=_HOW_TO_MAKE,
                )
        self._keys = dict(keys)
        self.current = next(iter(keys))

    @classmethod
    def from_text(cls, text: str) -> LocalWrappingKeys:
        """Read `name:base64` entries, separated by white space; the first is the current one."""
        keys: dict[str, bytes] = {}
        for entry in text.split():
            name, _, encoded = entry.rpartition(":")
            try:
                keys[name] = base64.b64decode(encoded, validate=True)
            except ValueError:
                raise ConfigurationError(
                    f"key encryption key {name[:200]!r} is not base64", hint=_HOW_TO_MAKE
                ) from None
        return cls(keys)

    @classmethod
    def from_file(cls, path: Path | str) -> LocalWrappingKeys:
        """Read them from a file that only its owner may read.

        Raises:
            ConfigurationError: others may, or it cannot be read.
        """
        try:
            with Path(path).open(encoding="utf-8") as file:
                mode = _exposed_mode(file.fileno())
                text = file.read()
        except OSError as error:
            raise ConfigurationError(
                f"the file of key encryption keys cannot be read: {error}"
            ) from None
        if mode is not None:
            raise ConfigurationError(
                f"others can read the file of key encryption keys {path}: its mode is {mode:04o}",
                hint=f"chmod 600 {path}",
            )
        return cls.from_text(text)

    @classmethod
    def from_environment(cls, variable: str = "PGRECALL_WRAPPING_KEYS") -> LocalWrappingKeys:
        """Read them from an environment variable."""
        return cls.from_text(os.environ.get(variable, ""))

    def wrap(self, name: str, data_key: bytes, context: bytes) -> bytes:
        """Encrypt a data key."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + encrypted(self._key(name), nonce, data_key, context)

    def unwrap(self, name: str, wrapped: bytes, context: bytes) -> bytes:
        """Decrypt a data key."""
        opened = decrypted(self._key(name), wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], context)
        if opened is None:
            raise ConfigurationError(
                f"key encryption key {name!r} did not wrap the data keys of this user",
                hint=_WRONG_KEY,
            )
        return opened

    def _key(self, name: str) -> bytes:
        if name not in self._keys:
            raise ConfigurationError(
                f"this driver has no key encryption key {name!r}", hint=_WRONG_KEY
            )
        return self._keys[name]


def _exposed_mode(file: int) -> int | None:
    """Return the mode of a file that others can read, None when they cannot.

    As in ssh: a group that somebody else's file names, such as a mounted secret's, may be ours.
    """
    if os.name != "posix":
        return None
    found = os.fstat(file)
    others = 0o077 if found.st_uid == os.geteuid() else 0o007
    return stat.S_IMODE(found.st_mode) if found.st_mode & others else None


_HOW_TO_MAKE = (
    'Write one to a file by: (umask 077; echo "first:$(openssl rand -base64 32)" >> FILE)'
)


class Opened(NamedTuple):
    """A text that was opened: what it is, of which row (None: of any), and the text."""

    field: str
    row: UUID | None
    text: str


class UnknownKeyError(ConfigurationError):
    """A text is encrypted by a data key that this driver does not have."""


class UserKeys:
    """Encrypts and decrypts the texts of one user.

    Args:
        user_id: whose.
        data_keys: by number; the highest seals, the lowest what is compared.
        retired: numbers of those that only open what stands in the audit.

    Attributes:
        user_id: whose.
        numbers: those of the keys in use, ascending.
    """

    def __init__(
        self, user_id: UUID, data_keys: Mapping[int, bytes], retired: Collection[int] = ()
    ) -> None:
        self.user_id = user_id
        self.numbers = sorted(data_keys.keys() - set(retired))
        self._ciphers = {no: _derived(key, b"cipher") for no, key in data_keys.items()}
        self._nonces = {no: _derived(key, b"nonce") for no, key in data_keys.items()}
        self._macs = {no: _derived(key, b"compare") for no, key in data_keys.items()}

    def newest(self) -> UserKeys:
        """Return the newest key alone, which encrypts values that are compared."""
        alone = object.__new__(UserKeys)
        alone.user_id, alone.numbers = self.user_id, self.numbers[-1:]
        alone._ciphers, alone._nonces, alone._macs = self._ciphers, self._nonces, self._macs
        return alone

    def seal(
        self,
        text: str,
        field: str,
        *,
        row: UUID | None = None,
        context: str = "",
        with_hash: bool = False,
    ) -> str:
        """Return the ciphertext of a text.

        Args:
            text: any text.
            field: what it is; it opens as this only.
            row: the id of the row that it stands in.
            context: what makes the bytes differ from those of the same text elsewhere; empty where
                the database must be able to compare.
            with_hash: whether the HMAC of the normalized text goes with it, for deduplication.
        """
        mark, oldest = "", self.numbers[0]
        number = oldest if field in _COMPARED else self.numbers[-1]
        if with_hash:
            hashed = b"hash\0" + _normalized(text).encode()
            mark = _b64(hmac.digest(self._macs[oldest], hashed, "sha256"))
        data, place = text.encode(), (row or _NO_ROW).bytes
        bound = self._bound(number, field, mark, place)
        seed = len(context).to_bytes(4) + context.encode() + bound + b"\0" + data
        nonce = hmac.digest(self._nonces[number], seed, "sha256")[:_NONCE_BYTES]
        body = encrypted(self._ciphers[number], nonce, data, bound)
        return f"{PREFIX}{number}:{field}:{mark}:{_b64(place + nonce + body)}"

    def row_of(self, seed: str) -> UUID:
        """Return an id for a row that is the same whenever the same is sent again (UUIDv8)."""
        digest = hmac.digest(self._nonces[self.numbers[0]], b"row\0" + seed.encode(), "sha256")
        number = int.from_bytes(digest[:16]) & ~(0xF << 76) | 0x8 << 76  # the version
        return UUID(int=number & ~(0x3 << 62) | 0x2 << 62)  # the variant

    def open(self, text: str, fields: Collection[str] | None = None) -> str:
        """Return a text with each ciphertext in it opened.

        Raises:
            ConfigurationError: one is of another key, user or field, or was changed.
        """
        return self.replaced(text, lambda opened: opened.text, fields)

    def replaced(
        self,
        text: str,
        shown: Callable[[Opened], str],
        fields: Collection[str] | None = None,
        where: str = "",
    ) -> str:
        """Return a text with each ciphertext replaced by what `shown` makes of it."""

        def opened(match: re.Match[str]) -> str:
            return shown(self._opened(match, fields, where))

        return TOKEN.sub(opened, text)

    def _opened(self, match: re.Match[str], fields: Collection[str] | None, where: str) -> Opened:
        number, field, mark, body = int(match[1]), match[2], match[3] or "", _unb64(match[4])
        if number not in self._ciphers:
            raise UnknownKeyError(
                f"a text of user {self.user_id}{where} is encrypted by data key {number}, which is "
                "not among the keys of this user",
                hint="The row of recall.user_keys is missing, or was replaced by another.",
            )
        place, nonce, sealed = body[:16], body[16 : 16 + _NONCE_BYTES], body[16 + _NONCE_BYTES :]
        data = None
        if fields is None or field in fields:
            bound = self._bound(number, field, mark, place)
            data = decrypted(self._ciphers[number], nonce, sealed, bound)
        if data is None:
            raise ConfigurationError(
                f"a ciphertext of user {self.user_id}{where} cannot be decrypted as {field}",
                hint="It was changed or moved in the database, or encrypted by another key.",
            )
        row = UUID(bytes=place)
        return Opened(field, None if row == _NO_ROW else row, data.decode())

    def _bound(self, number: int, field: str, mark: str, place: bytes) -> bytes:
        parts = [b"pgrecall v1", self.user_id.bytes, number.to_bytes(2), field.encode()]
        return b"\0".join([*parts, mark.encode(), place])


def new_data_key() -> bytes:
    """Return a new data key."""
    return secrets.token_bytes(_KEY_BYTES)


def encrypted(key: bytes, nonce: bytes, data: bytes, bound: bytes) -> bytes:
    """Return the AES-GCM ciphertext with its tag."""
    return bytes(aes_gcm()(key).encrypt(nonce, data, bound))


def decrypted(key: bytes, nonce: bytes, data: bytes, bound: bytes) -> bytes | None:
    """Return the plaintext, None when key, nonce, data or what it is bound to is another."""
    cipher = aes_gcm()
    from cryptography.exceptions import InvalidTag

    try:
        return bytes(cipher(key).decrypt(nonce, data, bound))
    except (InvalidTag, ValueError):
        return None


def aes_gcm() -> type[AESGCM]:
    """Return the class of the cipher.

    Raises:
        ConfigurationError: the package cryptography is not installed; the hint installs it.
    """
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise ConfigurationError(
            "encrypted users need the package cryptography", hint=pip_install_extra("encryption")
        ) from error
    return AESGCM


def _derived(key: bytes, purpose: bytes) -> bytes:
    """Return a key for one purpose: HKDF-SHA256 (RFC 5869) of one block, without salt."""
    if len(key) != _KEY_BYTES:
        raise InvalidInputError("a data key has 32 bytes")
    extracted = hmac.digest(bytes(32), key, "sha256")
    return hmac.digest(extracted, b"pgrecall sealed v1 " + purpose + b"\x01", "sha256")


def _normalized(text: str) -> str:
    """Return the form in which two texts are the same text, as `recall._normalize_text` has it."""
    visible = INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    folded = " ".join(visible.lower().split())
    return folded.rstrip(" .,;:!?…。、！？")


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
