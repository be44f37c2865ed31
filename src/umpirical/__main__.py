"""`python -m umpirical`."""

from umpirical.cli import main

if __name__ == "__main__":
    main()
