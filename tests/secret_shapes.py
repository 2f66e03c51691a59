"""Credentials in the shapes that they have in the wild, all invented.

Most are put together of two halves, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass

__all__ = ["COMMON", "HARMLESS", "PREFIXES", "SHAPES", "Shape", "is_held_out", "leaks"]


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

COMMON = list(SHAPES)
"""The shapes that a test tries that takes long for each."""

# Generated from a seed: no value belongs to an account, and no scanner takes this file for a leak.

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ALPHABETS = {
    "x": "0123456789abcdef",
    "d": "0123456789",
    "a": _LETTERS + "0123456789",
    "A": _LETTERS.upper() + "0123456789",
    "w": _LETTERS + _LETTERS.upper() + "0123456789",
    "v": _LETTERS + _LETTERS.upper() + "0123456789_-",
    "b": _LETTERS + _LETTERS.upper() + "0123456789+/",
}


def _made(name: str, form: str) -> str:
    """Return a value of a form such as `glpat-<20v>`: so many signs of an alphabet."""
    dice = random.Random(name)

    def piece(match: re.Match[str]) -> str:
        length, alphabet = int(match[1]), _ALPHABETS[match[2]]
        signs = [dice.choice(alphabet) for _ in range(length)]
        if length > 3 and any(sign.isdigit() for sign in alphabet):
            signs[dice.randrange(1, length - 1)] = dice.choice("123456789")
        return "".join(signs)

    return re.sub(r"<(\d+)(\w)>", piece, form)


_UUID = "<8x>-<4x>-4<3x>-a<3x>-<12x>"
_VENDORS = {
    "hashicorp vault service": "hvs.<92v>",
    "hashicorp vault batch": "hvb.<140v>",
    "hashicorp vault recovery": "hvr.<92v>",
    "hashicorp terraform": "<14w>.atlasv1.<67v>",
    "docker personal": "dckr_pat_<27v>",
    "docker organization": "dckr_oat_<32v>",
    "gitlab personal": "glpat-<20v>",
    "gitlab routable": "glpat-<27v>.01.<9a>",
    "gitlab deploy": "gldt-<20v>",
    "gitlab runner": "glrt-<20v>",
    "gitlab runner routable": "glrt-t1_<27v>.01.<9a>",
    "gitlab runner registration": "GR1348941<20v>",
    "gitlab trigger": "glptt-<40x>",
    "gitlab job": "glcbt-64_<20v>",
    "gitlab feed": "glft-<20v>",
    "gitlab mail": "glimt-<25v>",
    "gitlab agent": "glagent-<50v>",
    "gitlab oauth": "gloas-<64v>",
    "gitlab scim": "glsoat-<20v>",
    "gitlab flags": "glffct-<20v>",
    "atlassian api": "ATATT3xFfGF0<60v>=<8A>",
    "atlassian connect": "ATCTT3xFfGN0<60v>=<8A>",
    "atlassian bitbucket": "ATBB<32w>",
    "supabase personal": "sbp_<40x>",
    "supabase secret": "sb_secret_<22v>_<8v>",
    "linear key": "lin_api_<40w>",
    "linear oauth": "lin_oauth_<64x>",
    "notion": "ntn_<11d><35w>",
    "notion old": "secret_<43w>",
    "discord bot": "MTk4NjIyNDgzNDcxOTI1MjQ4.<6w>.<27v>",
    "1password secret key": "A3-<6A>-<6A>-<5A>-<5A>-<5A>-<5A>",
    "1password service": "ops_eyJ<260b>",
    "adobe": "p8e-<32a>",
    "airtable": "pat<14w>.<64x>",
    "alibaba": "LTAI<20w>",
    "artifactory": "AKCp<69w>",
    "artifactory reference": "cmVmd<59w>",
    "asana personal": "1/<16d>:<32x>",
    "aws temporary id": "ASIA<16A>",
    "aws bedrock": "ABSK<120b>=",
    "azure client secret": "<3w>8Q~<34v>",
    "buildkite": "bkua_<40x>",
    "cerebras": "csk-<48a>",
    "circleci": "CCIPAT_<22w>_<40x>",
    "clickhouse": "4b1d<38w>",
    "clojars": "CLOJARS_<60a>",
    "cloudflare origin": "v1.0-<24x>-<146x>",
    "contentful": "CFPAT-<43v>",
    "databricks": "dapi<32x>",
    "digitalocean": "dop_v1_<64x>",
    "digitalocean oauth": "doo_v1_<64x>",
    "digitalocean refresh": "dor_v1_<64x>",
    "doppler": "dp.pt.<43w>",
    "doppler service": "dp.st.dev.<43w>",
    "duffel": "duffel_live_<43v>",
    "dynatrace": "dt0c01.<24A>.<64A>",
    "easypost": "EZAK<54w>",
    "facebook page": "EAAC<120w>",
    "figma": "figd_<40v>",
    "firecrawl": "fc-<32x>",
    "flutterwave": "FLWSECK_TEST-<32x>-X",
    "fly.io": "fm2_<120b>=",
    "fly.io personal": "fo1_<43v>",
    "frame.io": "fio-u-<64v>",
    "google oauth refresh": "1//0<40v>",
    "grafana cloud": "glc_<60w>=",
    "grafana service": "glsa_<32w>_<8x>",
    "harness": "pat.<22v>.<24w>.<20w>",
    "heroku": "HRKU-AA<58v>",
    "hugging face organization": "api_org_<34w>",
    "infracost": "ico-<32w>",
    "intra42": "s-s4t2ud-<64x>",
    "langsmith": "lsv2_pt_<32x>_<10x>",
    "langfuse": "sk-lf-" + _UUID,
    "mailchimp": "<32x>-us12",
    "mailgun": "key-<32x>",
    "mapbox": "sk.eyJ<60w>.<22v>",
    "maxmind": "<6w>_<29w>_mmk",
    "neon": "napi_<64a>",
    "netlify": "nfp_<36w>",
    "new relic user": "NRAK-<27A>",
    "new relic insert": "NRII-<32v>",
    "npm": "npm_<36w>",
    "nuget": "oy2<43a>",
    "nvidia": "nvapi-<64v>",
    "octopus deploy": "API-<26A>",
    "openrouter": "sk-or-v1-<64x>",
    "openshift": "sha256~<43v>",
    "pinecone": "pcsk_<6w>_<60w>",
    "plaid": "access-production-" + _UUID,
    "planetscale": "pscale_tkn_<43v>",
    "planetscale password": "pscale_pw_<43v>",
    "postman": "PMAK-<24x>-<34x>",
    "posthog": "phx_<43w>",
    "prefect": "pnu_<36w>",
    "pulumi": "pul-<40x>",
    "pypi": "pypi-AgEIcHlwaS5vcmc<80v>",
    "readme": "rdme_<70a>",
    "render": "rnd_<32w>",
    "resend": "re_<8w>_<24w>",
    "rubygems": "rubygems_<48x>",
    "scalingo": "tk-us-<48v>",
    "sendgrid": "SG.<22v>.<43v>",
    "sendinblue": "xkeysib-<64x>-<16w>",
    "sentry organization": "sntrys_eyJpYXQiO<80w>=_<43w>",
    "sentry user": "sntryu_<64x>",
    "settlemint": "sm_pat_<16w>",
    "shippo": "shippo_live_<40x>",
    "shopify": "shpat_<32x>",
    "slack refresh": "xoxe.xoxp-1-<163A>",
    "sonar": "sqp_<40x>",
    "sourcegraph": "sgp_<16x>_<40x>",
    "square": "sq0csp-<43v>",
    "square access": "EAAA<60v>",
    "stripe restricted": "rk_live_<24w>",
    "tailscale": "tskey-auth-<12w>CNTRL-<32w>",
    "tavily": "tvly-<32w>",
    "telegram bot": "<10d>:AA<33v>",
    "trello": "ATTA<64x>",
    "twilio": "SK<32x>",
    "typeform": "tfp_<44v>_<14w>",
    "yandex": "AQVN<36v>",
}

# What gives the secret away is what stands around it.
_PLACES = [
    ("discord hook", "api_key", "<68v>", "https://discord.com/api/webhooks/1098765432109876543/{}"),
    ("discord old hook", "api_key", "<68v>",
     "POST https://discordapp.com/api/webhooks/109876543210987654/{} please"),
    ("slack workflow", "api_key", "T<10A>/A<10A>/<18d>/<24w>",
     "https://hooks.slack.com/workflows/{}"),
    ("teams hook", "api_key", "<32x>/" + _UUID,
     ("https://acme.webhook.office.com/webhookb2/1b2c3d4e-0000-4000-8000-1b2c3d4e5f60"
     "@1b2c3d4e-0000-4000-8000-1b2c3d4e5f60/IncomingWebhook/{}")),
    ("telegram url", "api_key", "<9d>:AA<33v>", "https://api.telegram.org/bot{}/getMe"),
    ("curl user", "password", "tr0ub<4w>&3", "curl -u alice:{} https://api.example.org/v1"),
    ("curl user quoted", "password", "tr0ub <4w>", "curl -sS --user 'alice:{}' https://x.example"),
    ("curl user equals", "password", "tr0ub<8w>", "curl --user=alice:{} -X POST https://x.example"),
    ("curl in json", "password", "tr0ub<8w>",
     '{"cmd": "curl -u \\"alice:{}\\" https://x.example"}'),
    ("curl header", "password", "<32x>", "curl -H 'X-Api-Key: {}' https://api.example.org"),
    ("netrc line", "password", "tr0ub<8w>", "machine api.example.org login alice password {}"),
    ("netrc lines", "password", "tr0ub<8w>",
     "machine api.example.org\n  login alice\n  password {}\n"),
    ("multipart", "password", "tr0ub <6w>",
     '--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n{}\r\n--x--\r\n'),
    ("multipart lf", "password", "tr0ub<6w>",
     'Content-Disposition: form-data; name="api_key"\n\n{}\n--boundary'),
    ("form body", "password", "tr0ub<6w>", "username=alice&password={}&remember=1"),
    ("url password with slash", "password", "s3/cr<4w>/pw", "postgres://app:{}@db.example.org/app"),
    ("url password with hash", "password", "s3#cr<6w>", "redis://:{}@cache.example.org:6379/0"),
    ("url password with colon", "password", "s3:cr<6w>", "amqp://app:{}@mq.example.org//"),
    ("mongodb url", "password", "s3cr<8w>", "mongodb+srv://app:{}@c0.example.net/?retryWrites=true"),
    ("url with a token", "password", "<40x>", "git clone https://oauth2:{}@git.example.org/a/b.git"),
    ("jdbc", "password", "s3cr<8w>", "jdbc:postgresql://db.example.org/app?user=app&password={}"),
    ("ado", "password", "s3cr<6w>!", "Server=db.example.org;User Id=sa;Password={};Encrypt=true"),
    ("libpq", "password", "s3cr<8w>", "host=db.example.org user=app password={} dbname=app"),
    ("digest response", "token", "<32x>",
     ('Authorization: Digest username="al", realm="a@example.org", nonce="n", uri="/", '
     'response="{}", opaque="o"')),
    ("aws signature", "token", "<64x>",
     ("Authorization: AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/s3/aws4_request, "
     "SignedHeaders=host;x-amz-date, Signature={}")),
    ("proxy header", "token", "<24w>==", "Proxy-Authorization: Basic {}"),
    ("token header", "token", "<40x>", "Authorization: token {}"),
    ("bot header", "token", "<24w>.<6w>.<27v>", "authorization: Bot {}"),
    ("bearer in curl", "token", "<32w>", 'curl -H "Authorization: Bearer {}" https://x.example'),
    ("custom scheme", "token", "<40w>", "Authorization: SSWS {}"),
    ("private token header", "password", "<20v>1", "PRIVATE-TOKEN: {}"),
    ("auth token header", "password", "<32x>", "X-Auth-Token: {}"),
    ("api key header", "password", "<32w>", "apikey: {}"),
    ("ocp header", "password", "<32x>", "Ocp-Apim-Subscription-Key: {}"),
    ("set cookie", "token", "<32x>", "Set-Cookie: sid={}; Path=/; HttpOnly"),
    ("gitlab session", "token", "<32x>", "Cookie: _gitlab_session={}"),
    ("security token query", "password", "<60w>%2F", "https://b.example/k?X-Amz-Security-Token={}"),
    ("azure sas", "password", "<43w>%3D", "https://a.example/c?sv=2022-11-02&sp=r&sig={}"),
    ("google key query", "password", "<39w>", "https://maps.example.org/js?key={}&v=3"),
    ("github actions url", "password", "<32a>", "https://x.example/hook?access_token={}"),
    ("azure storage", "password", "<86b>==",
     "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=core.windows.net"),
    ("aws secret key", "password", "<40b>", "AWS_SECRET_ACCESS_KEY={}"),
    ("aws session", "password", "<200b>", "aws_session_token = {}"),
    ("npmrc", "password", _UUID, "//registry.npmjs.org/:_authToken={}"),
    ("npmrc auth", "password", "<32w>==", "_auth={}"),
    ("docker config", "password", "<32w>==", '{"auths": {"r.example.org": {"auth": "{}"}}}'),
    ("snyk", "password", _UUID, "export SNYK_TOKEN={}"),
    ("heroku key", "password", _UUID, "HEROKU_API_KEY={}"),
    ("datadog", "password", "<32x>", "DD_API_KEY={}"),
    ("codecov", "password", _UUID, "CODECOV_TOKEN: {}"),
    ("okta", "password", "00<40v>", 'okta_token = "{}"'),
    ("cloudflare", "password", "<40v>", "CLOUDFLARE_API_TOKEN={}"),
    ("vault old", "password", "s.<24w>", "VAULT_TOKEN={}"),
    ("azure secret", "password", "<36v>", "AZURE_CLIENT_SECRET={}"),
    ("django", "password", "<12a>(<12a>)<12a>", "SECRET_KEY = 'django-insecure-{}'"),
    ("jwt secret", "password", "<48w>", "JWT_SECRET={}"),
    ("session secret", "password", "<32x>", "SESSION_SECRET: '{}'"),
    ("encryption key", "password", "<44b>=", "ENCRYPTION_KEY={}"),
    ("fernet", "password", "<43v>=", 'FERNET_KEY="{}"'),
    ("rails master", "password", "<32x>", "RAILS_MASTER_KEY={}"),
    ("pgpassword", "password", "s3cr<6w>", "PGPASSWORD={} psql -h db.example.org"),
    ("db pass", "password", "s3cr<6w>", "DB_PASS={}"),
    ("redis pass", "password", "s3cr<12w>", "requirepass {}"),
    ("mysql option", "password", "s3cr<6w>", "mysql -u root -p{} app"),
    ("sshpass", "password", "s3cr<6w>", "sshpass -p {} ssh root@x.example"),
    ("password option", "password", "s3cr<6w>", "wget --user=al --password={} https://x.example"),
    ("password option apart", "password", "s3cr<6w>", "tool login --password {} --now"),
    ("token option", "password", "<32x>", "gh-like auth --token {}"),
    ("kubernetes", "password", "<24w>==",
     "kind: Secret\ndata:\n  password: {}\n"),
    ("terraform", "password", "s3cr<6w>", 'administrator_login_password = "{}"'),
    ("yaml key", "password", "<32w>", "openai:\n  api_key: {}\n  model: gpt-4o\n"),
    ("toml", "password", "<40w>", 'api-token = "{}"'),
    ("python keyword", "password", "<32w>", "client = Client(api_key='{}', timeout=3)"),
    ("javascript object", "password", "<32w>", "const c = {apiKey: \"{}\", region: 'eu'}"),
    ("typescript", "password", "<32w>", 'const clientSecret: string = "{}";'),
    ("ruby hash", "password", "s3cr<8w>", ":password => '{}'"),
    ("php array", "password", "s3cr<8w>", "'password' => '{}',"),
    ("go", "password", "s3cr<8w>", 'password := "{}"'),
    ("java properties", "password", "s3cr<8w>", "spring.datasource.password={}"),
    ("nuget config", "password", "s3cr<8w>",
     '<add key="ClearTextPassword" value="{}" />'),
    ("xml attribute", "password", "s3cr<8w>", '<user name="al" password="{}"/>'),
    ("gcp key file", "private_key", "MII<40b>",
     '{"private_key": "-----BEGIN ' + 'PRIVATE KEY-----\\n{}\\n-----END '
     + 'PRIVATE KEY-----\\n"}'),
    ("openssh", "private_key", "b3BlbnNzaC1rZXk<60b>",
     "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n{}\n-----END OPENSSH " + "PRIVATE KEY-----"),
    ("pgp", "private_key", "lQOYBF<60b>",
     "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\n\n{}\n=abcd\n-----END PGP "
     + "PRIVATE KEY BLOCK-----"),
    ("age", "private_key", "AGE-SECRET-KEY-1<58A>", "identity: {}"),
    ("said", "password", "tr0ub<6w>", "My password is {} and I use it everywhere."),
    ("said with a colon", "password", "tr0ub<6w>!", "the wifi password: {}"),
    ("said with an of", "password", "tr0ub<6w>", "The password for the router is {}."),
    ("sidekiq", "password", "<8x>", "https://1a2b3c4d:{}@gems.contribsys.com/"),
    ("jwt of two", "token", "eyJhbGciOiJub25l<6w>.eyJzdWIi<12w>.", "token {} expires"),
    ("encoded jwt", "token", "ZXlKaGJHY2lPaUpJVXpJMU5pSjku<60w>", "See {} there"),
]  # fmt: skip

SHAPES += [_shape(name, "api_key", _made(name, form)) for name, form in _VENDORS.items()]
SHAPES += [_shape(name, kind, _made(name, form), text) for name, kind, form, text in _PLACES]

_SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)

HARMLESS += [
    # hashes and ids
    f"sha256 {_SHA} verified",
    f"commit {_SHA[:40]}\nAuthor: Ann <ann@example.org>",
    f"image@sha256:{_SHA}",
    "md5: d41d8cd98f00b204e9800998ecf8427e",
    "ETag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"",
    "trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7",
    "user 018f4e2a-7c1b-7d3e-9a4b-5c6d7e8f9a0b opened 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "ULID 01ARZ3NDEKTSV4RRFFQ69G5FAV, nanoid V1StGXR8_Z5jdHi6B-myT",
    "tool call call_abc123DEF456ghi789JKL012 answered, run_9Zx8Yw7Vu6Ts5Rq4",
    "chatcmpl-9aB8cD7eF6gH5iJ4kL3mN2oP1qR0 took 2 s",
    "msg_01XFDUDYJgAACzvnptvVoYEL and toolu_01A09q90qw90lq917835lq9",
    "The bucket arn:aws:s3:::my-bucket-2024 and arn:aws:iam::123456789012:role/Admin",
    "session 01HZX3V9K8Q4T2R7N5M6P1W0YB started",
    "git describe says v2.14.0-153-g3f5a9c1e",
    "CVE-2024-12345, RFC 6749, ISO 27001:2022, DIN EN 60601-1",
    "ISBN 978-3-16-148410-0, order no. 2024-000123-99, tracking 1Z999AA10123456784",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed is a contract",
    "mac 00:1A:2B:3C:4D:5E, ip 192.168.178.24, fe80::1ff:fe23:4567:890a",
    # base64
    f"data:image/png;base64,{_PNG}",
    f'{{"type": "image_url", "image_url": {{"url": "data:image/png;base64,{_PNG}"}}}}',
    "TG9yZW0gaXBzdW0gZG9sb3Igc2l0IGFtZXQsIGNvbnNlY3RldHVyIGFkaXBpc2NpbmcgZWxpdC4=",
    "integrity sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJx8x1k8Zk3a2Q5bZr8u0w6v9yq1o2p3s4t5u6v7w8x9 ann@laptop",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    # prose
    "Never write your password on a note; a passphrase of five words is better.",
    "I forgot my password again, can you send me a reset link?",
    "The password policy asks for 12 characters, one of them a digit.",
    "My password is wrong, they say.",
    "The password is case-sensitive and must be changed every 90 days.",
    "Passwords are hashed with bcrypt (cost 12), tokens with SHA-256.",
    "What is the token limit of gpt-4o? I think 128000 tokens.",
    "Our secret: the sauce has anchovies. The secret is slow cooking.",
    "The key is under the mat, the key takeaway is patience.",
    "Cookies: I bake them at 180 degrees. Cookie dough = the best part.",
    "Authorization is not authentication; the bearer of this letter may enter.",
    "Bearer tokens expire after 3600 seconds; basic auth does not.",
    "She passed: 17 of 20 points. Pass the salt: please.",
    "passport: X1234567 is at home, the compass: north",
    "Password managers such as Bitwarden, 1Password and KeePassXC2 are fine.",
    "How do I rotate an API key in AWS? The access key: where is it shown?",
    "The machine login page asks for a password twice.",
    "Login, password reset and two-factor are done; sign-up 2.0 is next.",
    "Kannst du mir mein Passwort zurücksetzen? Der Schlüssel liegt bei Frau Müller.",
    "Mot de passe oublié ? Le jeton expire dans 15 minutes.",
    "The risk-adjusted desk-to-desk task-force-2024-planning-meeting went well",
    "sk-learn and scikit-learn 1.5.2 are the same; whisk-the-eggs-for-10-minutes",
    "Ask-me-anything-session-2024-part-2 is online",
    "Meet at 12:30@cafe; call +49 30 1234567 or write to ann.b@example.co.uk",
    "hf_hub_download and npm_config_registry are names",
    "Use xoxo as a greeting, AKIA is a city in Japan (Akia-ku?)",
    "ghost_writer and ghoul_town; the pat.of butter; dp.pt is a domain of Portugal",
    # code
    "token = tokens[i]\nif token.type == TokenType.NAME:",
    "const token = await getToken({ refresh: true, retries: 3 });",
    "tokens = tokenizer.encode(text, add_special_tokens=False)[:512]",
    "token: str | None = None",
    "def login(user: str, password: str) -> Token: ...",
    "password = getpass.getpass('Password: ')",
    "password = os.environ['DB_PASSWORD']",
    'api_key = os.getenv("OPENAI_API_KEY")',
    "api_key=settings.api_key, token=request.token",
    "const apiKey = process.env.API_KEY ?? config.apiKey;",
    "PASSWORD=${DB_PASSWORD}\nTOKEN=$(cat /run/secrets/token)",
    "password: ${{ secrets.DOCKER_PASSWORD }}",
    "api_key: !vault |",
    "API_KEY=<your api key>\nSECRET_KEY=YOUR_SECRET_KEY_HERE",
    'OPENAI_API_KEY="..."',
    "if (password !== confirmPassword) throw new Error('password mismatch');",
    "assert user.check_password(raw_password) is True",
    '{"type": "string", "name": "password", "description": "the password of the user"}',
    '{"properties": {"token": {"type": "string"}, "api_key": {"type": "string"}}}',
    '<input type="password" name="password" placeholder="Password" />',
    "SELECT password_hash, token_count FROM users WHERE token_id = $1",
    "CREATE USER app WITH PASSWORD :'pw'; ALTER TABLE tokens ADD COLUMN secret_id uuid;",
    "max_tokens=4096, token_budget: 128000, tokens_used = 17",
    '{"usage": {"prompt_tokens": 1234, "completion_tokens": 56, "total_tokens": 1290}}',
    "next_page_token=CAUQAA&page_size=50",
    '{"nextPageToken": "CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA"}',
    "primary_key = Column(Integer); foreign_key=ForeignKey('users.id'); key = lambda r: r.id",
    "cache_key = f'user:{user_id}:v2'",
    "public_key = load_pem(path)  # keyboard, keynote2024, monkey=3",
    "for key, value in sorted(data.items(), key=itemgetter(1)): pass",
    "idempotency_key: 7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "sort_key=created_at_desc2 partition_key=user_id_hash_16",
    "bypass=true, compass=3, encompassing: 12 items; pwd=/home/ann/work",
    "cd $(pwd) && echo $PWD; oldpwd=/var/tmp/build_2024",
    "curl -u alice https://x.example/  # asks for the password",
    "curl -sSL https://get.example.org/install.sh | sh -s -- --user alice",
    "docker run -u 1000:1000 -p 8080:80 nginx:1.27",
    "mkdir -p src/app && cp -pr a b && ssh -p 2222 ann@host.example",
    "tar -xpf backup.tar && ps -u postgres",
    "mysql -u root -p app < dump.sql",
    "netrc is a file: machine, login and password stand in it",
    "class SecretsManager(BaseModel):\n    secret_name: str = 'prod/db'",
    "secret_version_id: latest, secretName: my-app-tls, secret_arn = data.arn",
    "signature = inspect.signature(func); sig = signal.SIGTERM",
    "x.authorization = headers.get('authorization')",
    "cookie = request.cookies.get('theme')",
    'Set-Cookie: theme=; Path=/; Max-Age=0',
    "response = client.post(url, auth=(user, password))",
    "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhello\r\n--x--",
    # URLs, paths, lock files
    "https://example.org/a/b?page=2&sort=-date&q=token+ring#secret-garden",
    "https://user@host.example:8443/path/12:30@noon",
    "https://medium.example/@ann/how-to-keep-a-secret-3f5a9c1e2b4d",
    "https://discord.com/channels/109876543210987654/109876543210987655",
    "https://hooks.slack.com/ is where hooks are sent to",
    "git@github.com:pgvector/pgvector.git and ssh://git@git.example.org:2222/a/b",
    "/etc/ssl/private/server.key and ~/.aws/credentials, C:\\Users\\ann\\token.json",
    "file:///srv/data/keys/2024-05-01/pass.db",
    "time 12:30:45 //comment: see a@b.example",
    "http://localhost:8080/users:batchGet?ids=1@2",
    f'pgvector==0.3.6 \\\n    --hash=sha256:{_SHA} \\\n    --hash=sha256:{_SHA[::-1]}',
    ('"resolved": "https://registry.npmjs.org/js-tokens/-/js-tokens-4.0.0.tgz",\n'
    '"integrity": "sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOpYBtpD2kC'
    'm6Sbukr1EgI4f5Xg=="'),
    '[[package]]\nname = "tokenizers"\nversion = "0.20.1"\nchecksum = "' + _SHA + '"',
    ('name = "secretstorage"\nurl = "https://files.pythonhosted.org/packages/53/a4/f48c9d79/S-3.3.3'
    '.tar.gz"'),
    "github.com/golang-jwt/jwt/v5 v5.2.1 h1:OuVbFODueb089Lh128TAcimifWaLhJwVflnrgM17wHk=",
    "github.com/keybase/go-keychain v0.0.0-20231219164618-57a3676c3af6/go.mod h1:3VeWNIJaW+O5xpRQ",
    "token_type_embeddings.weight torch.Size([2, 768]) 1.5e-05",
    "Epoch 3/10 loss=0.3217 acc=0.9012 lr=5e-05 tokens=1048576",
    "2026-07-22T09:50:33.123Z INFO auth: token refreshed for user 42 in 12ms",
    "keyboard-interactive/pam; sshd[1234]: Accepted publickey for ann from 10.0.0.7 port 52144",
    "ERROR: password authentication failed for user \"app\" (28P01)",
    "fatal: could not read Password for 'https://ann@git.example.org': No such device",
]  # fmt: skip


def is_held_out(name: str) -> bool:
    """Return whether a shape or a text is of the third that the patterns were not made with."""
    return hashlib.sha256(name.encode()).digest()[0] % 3 == 0


def leaks(secret: str, masked: str) -> bool:
    """Return whether a masked text still has the secret, or eight signs of it in a row."""
    return secret in masked or (
        len(secret) > 9 and any(secret[at : at + 8] in masked for at in range(len(secret) - 7))
    )


PREFIXES = [
    "sk-",
    "sk-a ",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nA: b\n",
    "AGE-SECRET-KEY-1",
    "ghp_",
    "glpat-",
    "glpat-aaaaaaaaaaaaaaaa.",
    "hvs.",
    "secret_",
    "A3-",
    "SG.",
    "SG.aaaaaaaaaaaaaaaa.",
    "MTaaaaaaaaaaaaaaaaaaaaaaa.",
    "hooks.slack.com/services/",
    "discord.com/api/webhooks/1/",
    "webhook.office.com/webhookb2/a",
    "eyJaaaaaaaa.",
    "eyJaaaaaaaa-",
    "eyJ",
    "signature=",
    'response="',
    "authorization: bearer ",
    "authorization: ",
    "bearer ",
    "bearer a",
    "cookie: a=",
    "cookie:",
    "cookie: a=b; ",
    "x://a:b",
    "x://a:",
    "x://",
    '"password": "',
    '"password',
    '"',
    '\\"password\\": \\"',
    '\\\\\\"password\\\\\\": \\\\\\"',
    "'password': '",
    "password=",
    "password = ",
    "password",
    "password=a(",
    "<password>",
    "<password>a",
    "<password>a</",
    "https://hooks.slack.com/",
    "?key=",
    "API_TOKEN=",
    "_KEY=a",
    "curl -u a:",
    " -u a",
    " --user=a:",
    "sshpass -p ",
    "mysql ",
    "mysql a",
    "mysql -p",
    "machine a login b password ",
    "machine a ",
    "login ",
    "--password ",
    " --a-",
    " --a-password=",
    'name="password"\n\n',
    'key="password" value="',
    'key="a',
    "password is ",
    "password for a",
    "4",
    "4 ",
    "4111 1111 1111 1111 ",
    "DE",
    "DE89 3704 ",
    "a@",
    "a@a.",
    "a.",
    "+4",
    "+49 170 ",
    "415-",
    "key",
    "token",
    '"a.',
    "sk-aaaaaaaaaaaaaaaaaaaaaaaa1 ",
    "password=hunter2 ",
]
"""What the patterns begin with, to be repeated."""
