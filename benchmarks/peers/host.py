"""Run one contender in this interpreter: `python host.py NAME --dsn … --data … --out …`."""

from harness import main

if __name__ == "__main__":
    main()
