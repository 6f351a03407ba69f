"""`python -m reverie`, where the `reverie` script is not on the path."""

from reverie.cli import main

if __name__ == "__main__":
    main()
