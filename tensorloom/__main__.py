"""`python -m tensorloom`: the same as the command `tensorloom`."""

from tensorloom.commands import main

if __name__ == "__main__":
    main()
