"""Write the schema files: `python -m pgrecall.prompts`."""

import json
from pathlib import Path

from pgrecall.prompts import STEPS, made_schema

for step in STEPS:
    path = Path(__file__).with_name(f"{step}.schema.json")
    path.write_text(json.dumps(made_schema(step), indent=2) + "\n", encoding="utf-8")
