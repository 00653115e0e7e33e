"""`python -m thence` is `thence`."""

from thence.cli import main

if __name__ == "__main__":
    main(prog_name="thence")
