"""Credentials in the shapes that they have in the wild, all invented.

Most are put together of two halves, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HARMLESS", "SHAPES", "Shape"]


@dataclass(frozen=True, slots=True)
class Shape:
    """A secret and a text that it stands in.

    Attributes:
        name: of the shape.
        kind: the class of secrets that it belongs to.
        secret: what must not be stored.
        text: how it comes along.
    """

    name: str
    kind: str
    secret: str
    text: str

    def __str__(self) -> str:
        return self.name


def _shape(name: str, kind: str, secret: str, text: str = "Use {} for it.") -> Shape:
    return Shape(name, kind, secret, text.replace("{}", secret))


_JWT = ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NSJ9", "SflKxwRJSMeKKF2QT4fw"))
_PEM = "\n".join(
    ("-----BEGIN RSA " + "PRIVATE KEY-----", "MIIEowIBAAKCAQEAy8Dbv8prpJ/0kKhlGeJY",
     "ozo2t60EG8L0561g13R29LvMR5hy", "-----END RSA " + "PRIVATE KEY-----")
)  # fmt: skip

SHAPES = [
    _shape("openai", "api_key", "sk-" + "proj-a1B2c3D4e5F6g7H8i9J0klmn"),
    _shape("anthropic", "api_key", "sk-" + "ant-api03-Zy9xWv8uTs7rQp6oNm5l"),
    _shape("aws key id", "api_key", "AKIA" + "IOSFODNN7EXAMPLE"),
    _shape("aws secret", "password", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
           "aws_secret_access_key = {}"),
    _shape("github", "api_key", "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"),
    _shape("behind a line break", "api_key", "gho_" + "16C7e42F292c6912E7710c838347Ae178B",
           "Keys:\n{}\n"),
    _shape("slack", "api_key", "xoxb-" + "123456789012-abcdefGHIJKL"),
    _shape("slack hook", "api_key", "T00000000/B00000000/" + "XXXXXXXXXXXXXXXXXXXXXXXX",
           "https://hooks.slack.com/services/{}"),
    _shape("google", "api_key", "AIza" + "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"),
    _shape("stripe", "api_key", "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc"),
    _shape("jwt", "token", _JWT),
    _shape("private key", "private_key", _PEM),
    _shape("bearer header", "token", "mF_9.B5f-4.1JqM-opaque", "Authorization: Bearer {}"),
    _shape("basic header", "token", "QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "authorization: Basic {}"),
    _shape("cookie", "token", "session=31d4d96e407aad42", "Cookie: {}"),
    _shape("url password", "password", "s3cr3tpw", "postgres://app:{}@db.example.org/app"),
    _shape("query string", "password", "abcdef0123456789", "https://x.example/v1?api_key={}&b=1"),
    _shape("signature", "password", "f0e1d2c3b4a59687", "https://x.example/f?X-Amz-Signature={}"),
    _shape("environment", "password", "correct-horse-battery", "DB_PASSWORD={}"),
    _shape("json", "password", "tr0ub4dor, and 3", '{"client_secret": "{}"}'),
    _shape("json in json", "password", "tr0ub4dor&3",
           '{"arguments": "{\\"password\\": \\"{}\\"}"}'),
    _shape("list in json", "password", "tr0ub4dor, and 3", '{"Authorization": [ "{}"]}'),
    _shape("pair in json", "password", "tr0ub4dor, and 3", '{"name":"x-api-key","value":"{}"}'),
    _shape("pair in json in json", "password", "tr0ub4dor&3",
           '{"a": "{\\"name\\": \\"x-api-key\\", \\"value\\": \\"{}\\"}"}'),
    _shape("quoted in a file", "password", "correct horse, battery", 'export DB_PASSWORD="{}"'),
    _shape("quoted in a call", "password", "tr0ub4dor&3", 'connect(user="ann", password="{}")'),
    _shape("in single quotes", "password", "correct horse battery", "api_key = '{}'"),
    _shape("a dictionary", "password", "it's tr0ub4dor", "{'password': \"{}\"}"),
    _shape("xml", "password", "correct horse battery", "<db:password>{}</db:password>"),
    _shape("slashes escaped", "password", "s3cr3tpw", r"postgres:\/\/app:{}@db.example.org\/app"),
    _shape("ampersand escaped", "password", "f0e1d2c3b4a5", r"https://x.example/?a=1\u0026sig={}"),
    _shape("ampersand in html", "password", "f0e1d2c3b4a5", "https://x.example/?a=1&amp;sig={}"),
    _shape("url in a url", "password", "f0e1d2c3b4a5", "https://x.example/?to=y%3Fapi_key%3D{}"),
    _shape("bare header", "token", "mF9B5f4a1JqMopaque00", "authorization: {}"),
    _shape("card", "card", "4111 1111 1111 1111", "My card is {}, valid until May."),
    _shape("card digits", "card", "5555555555554444"),
]  # fmt: skip

HARMLESS = [
    "The task-oriented sketch is in the risk-assessment-2024 folder.",
    "max_tokens: 4096, prompt_tokens: 17, the token count is 12",
    "The password is a word that I forgot.",
    "Call me at noon; order 4111 1111 1111 1112 is no card, 1700000000000 is a time.",
    "0.4111111111111111 and 123456789012345678901234567890",
    "See https://example.org/a?page=2&sort=key#top and user@example.org",
    "id 018f4e2a-7c1b-7d3e-9a4b-5c6d7e8f9a0b, sha 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "A bearer of good news; basic research; an api key is needed.",
    '{"ask": "your password:", "then": "the api key ="}',
    "An author's authorization: needed. <password> opens, and a < b.",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
]
