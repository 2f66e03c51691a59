"""A conversation by the driver of one release: `python session.py DSN`.

Each fixture in tests/releases has the copy of its release, since a later driver may have other
methods. It needs a schema with local vectors of 384 numbers and verbatim extraction.
"""

import sys

from pgrecall import AgentMemory

with AgentMemory.connect(sys.argv[1]) as memory:
    for turn in range(2):
        with memory.session(user="grace", model="gpt-4o-mini", system_prompt="Be brief.") as chat:
            chat.append(user="I use Vim for everything I write.", reply="Noted.")
            assert chat.context("Which editor do I use?")[-1]["role"] == "user"
            chat.remember("Grace lives in Arlington.", slot="city")
            chat.put_working("task", "key", {"turn": turn})
        report = memory.worker().run_until_idle(flush=True)
        assert not report.failed, report
    found = [hit.content for hit in memory.search("grace", "Which editor?")]
    assert any("Vim" in text for text in found), found
    assert any("Arlington" in item.content for item in memory.memories.list("grace"))
    chat = memory.session(user="grace", model="gpt-4o-mini")
    compiled = chat.compile("Where do I live?")
    assert "Arlington" in str(compiled.messages), compiled.messages
    assert memory.privacy.export_user("grace")["format"] == "pgrecall-user"
    assert not memory.privacy.verify_integrity("grace")
    memory.privacy.forget_user("grace")
sys.stdout.write("done\n")
