"""`python -m pgrecall`."""

from pgrecall.cli import main

if __name__ == "__main__":
    main()
