"""`python -m reverie`, for environments without the `reverie` script on the path."""

from reverie.cli import main

if __name__ == "__main__":
    main()
