"""Client-side encryption of a user's texts, by keys that the database never has.

An encrypted user has a data encryption key of their own (AES-256-GCM).
`AgentMemory.encryption.seal_user` makes it, and the database stores it wrapped by a key that is
kept elsewhere: in a file, in an environment variable, or in a key management service behind the
protocol `WrappingKeys`. The driver encrypts each text that it sends and decrypts each text that it
gets; a caller sees plaintext::

    keys = LocalWrappingKeys.from_file("/etc/pgrecall/keys")
    memory = AgentMemory.connect("postgresql://…", wrapping_keys=keys)
    memory.encryption.seal_user("ada")

A ciphertext is `sealed:v1:<key number>:<field>:<HMAC or nothing>:<base64url>`. Associated data bind
it to its user, key and field (and so to its table and column), and to its row unless it is a name.
A ciphertext that was changed, or moved to another user, field or row, does not open. Nonces derive
from key, field, row and text (in an append also from request id and index), so that a repeated
request sends the same bytes. Names that the database compares (slots, tags, tasks, keys, values of
a memory's metadata) encrypt to equal bytes when they are equal. Of those, and of the HMAC of a
memory's text, the database learns which are equal, and nothing more.

While `AgentMemory.encryption.rotate_user` replaces a data key, the user has two: new texts are
encrypted by the new one, compared names by the old one until all of them are exchanged.

It needs the package `cryptography`, which the extra `encryption` installs. Nothing here is loaded
before key encryption keys are given or an answer holds a ciphertext.
"""

from pgrecall.encryption._keys import LocalWrappingKeys, UnknownKeyError, WrappingKeys

__all__ = ["LocalWrappingKeys", "UnknownKeyError", "WrappingKeys"]
