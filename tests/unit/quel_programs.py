"""Random QUEL statements over the relations of the Wisconsin benchmark of 1993, as trees."""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from loadstone.quel import tree

NUMBERS = ("unique1", "two", "ten", "onepercent")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


@cache
def attributes(variables):
    pairs = st.tuples(st.sampled_from(variables), st.sampled_from(NUMBERS))
    return pairs.map(lambda pair: tree.attribute(*pair))


@cache
def numbers(variables, depth=2):
    leaves = st.one_of(attributes(variables), st.integers(-20, 220).map(tree.integer))
    if depth == 0:
        return leaves
    smaller = numbers(variables, depth - 1)
    divisors = st.integers(1, 9).map(tree.integer)
    return st.one_of(
        leaves,
        st.builds(tree.binary, st.sampled_from("+-*"), smaller, smaller),
        st.builds(tree.binary, st.sampled_from(["/", "mod"]), smaller, divisors),
        st.builds(negated, smaller),
    )


def negated(operand):
    return {"kind": "unary", "operator": "-", "operand": operand}


@cache
def conditions(variables, depth=2):
    texts = st.sampled_from(["A*", "*V*", "[A-O]*", "H", "?H*"]).map(tree.text)
    strings = st.sampled_from(variables).map(lambda name: tree.attribute(name, "string4"))
    comparison = st.one_of(
        st.builds(
            tree.binary,
            st.sampled_from(COMPARISONS),
            numbers(variables, 1),
            numbers(variables, 1),
        ),
        st.builds(tree.binary, st.sampled_from(["=", "!="]), strings, texts),
    )
    if depth == 0:
        return comparison
    smaller = conditions(variables, depth - 1)
    return st.one_of(
        comparison,
        st.builds(tree.binary, st.sampled_from(["and", "or"]), smaller, smaller),
        smaller.map(lambda operand: {"kind": "unary", "operator": "not", "operand": operand}),
    )


@cache
def aggregates(variables):
    functions = ["count", "countu", "sum", "sumu", "avg", "avgu", "min", "max", "any"]
    return st.fixed_dictionaries(
        {
            "kind": st.just("aggregate"),
            "function": st.sampled_from(functions),
            "argument": numbers(variables, 1),
            "by": st.lists(attributes(variables), max_size=2),
            "where": st.none() | conditions(variables, 1),
        }
    )


def retrieves():
    # Few tuples of two variables at once: `bprime` has 20, `onektup` too.
    variables = st.sampled_from([("t",), ("b", "o")])
    return variables.flatmap(retrieves_over)


@cache
def retrieves_over(names):
    return st.fixed_dictionaries(
        {
            "kind": st.just("retrieve"),
            "unique": st.booleans(),
            "into": st.none(),
            "targets": st.lists(
                st.one_of(numbers(names), aggregates(names[:1])), min_size=1, max_size=3
            ).map(lambda values: [tree.named(f"x{k}", v) for k, v in enumerate(values)]),
            "where": st.none() | conditions(names),
        }
    )


def updates() -> st.SearchStrategy[Any]:
    """Changes of `tenktup1`, by `t` and at most one tuple of another relation for each of its."""
    return st.one_of(replaces(), deletes(), appends())


@cache
def small_numbers(variables: tuple[str, ...]) -> st.SearchStrategy[Any]:
    """Numbers that fit every attribute."""
    return numbers(variables, 1).map(lambda value: tree.binary("mod", value, tree.integer(1000)))


@cache
def targets(variables: tuple[str, ...]) -> st.SearchStrategy[Any]:
    """New values of some attributes."""
    names = st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=3, unique=True)
    return names.flatmap(
        lambda chosen: st.tuples(*[small_numbers(variables)] * len(chosen)).map(
            lambda values: [tree.named(n, v) for n, v in zip(chosen, values, strict=True)]
        )
    )


@cache
def replaces() -> st.SearchStrategy[Any]:
    """Some attributes of tuples become functions of the same tuple."""
    return st.fixed_dictionaries(
        {
            "kind": st.just("replace"),
            "variable": st.just("t"),
            "targets": targets(("t",)),
            "where": st.none() | conditions(("t",)),
        }
    )


@cache
def deletes() -> st.SearchStrategy[Any]:
    """Few tuples go, so that later statements find some."""
    few = st.integers(0, 220).map(
        lambda least: tree.binary(">", tree.attribute("t", "unique1"), tree.integer(least))
    )
    return st.builds(
        lambda bound, condition: {
            "kind": "delete",
            "variable": "t",
            "where": tree.conjunction([bound, condition]),
        },
        few,
        conditions(("t",)),
    )


@cache
def appends() -> st.SearchStrategy[Any]:
    """Tuples made of those of `onektup`, or one of constants."""
    return st.fixed_dictionaries(
        {
            "kind": st.just("append"),
            "relation": st.just("tenktup1"),
            "targets": targets(("o",)),
            "where": st.none() | conditions(("o",)),
        }
    )
