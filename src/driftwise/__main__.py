"""`python -m driftwise` is `driftwise`."""

from driftwise.cli.main import main

if __name__ == "__main__":
    main()
