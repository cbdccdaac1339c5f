# %% [markdown]
# # Nine
# <a id="squares"></a>
# Read about [squares](#squares) first.

# %%
from autograder.student import check, quiz, start

start("9-tiny", edition="classroom")

# %% tags=["quiz"]
quiz(
    "9.warm-up",
    r"""
? What is $2^2$?
(x) 4 :: Twice two.
( ) 22 :: That puts the digits side by side.
""",
)

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "9.1-solution", "locked": false, "solution": true, "task": false}
def square(x):
    """The square of x."""
    ### BEGIN SOLUTION
    product = x * x  # by the definition
    return product
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "9.1", "locked": true, "points": 2, "solution": false, "task": false}
check("9.1", square)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("9.1", square)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>It gives me 2x</summary>Multiply, do not add.</details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# A square is a product.
#
# {{solution 9.1}}

# %% [markdown] tags=["classroom"]
# Hand this in by Friday.

# %% [markdown] nbgrader={"schema_version": 3, "grade": false, "grade_id": "9.written-rubric", "locked": true, "points": 0, "solution": false, "task": true}
# **9.written** Why are squares never negative?

# %% [markdown] nbgrader={"schema_version": 3, "grade": true, "grade_id": "9.written", "locked": false, "points": 6, "solution": true, "task": false}
# YOUR ANSWER HERE
