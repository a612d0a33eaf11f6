"""`python -m ratiolab`, for when the command is not on the path."""

from ratiolab.cli import main

main()
