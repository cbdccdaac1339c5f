"""`python -m autograder`: the command, where its script is not on the path."""

from autograder.cli import main

main()
