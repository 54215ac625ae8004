"""Patterns of LIKE, parts of texts, their joining and length, and regular expressions."""

from collections.abc import Iterator

from sqlglot import exp

from loadstone.workload.constructs.construct import (
    Construct,
    both,
    formed,
    gap,
    of_dialects,
    operand,
    written,
)

_ESCAPES = frozenset({"postgres", "mysql", "clickhouse", "spark"})
"""Dialects in which a backslash in a pattern escapes without being declared."""
ANY, ONE = "%", "_"


def _like(node: exp.Expr, dialect: str) -> str:
    if isinstance(node.parent, exp.Escape):
        return ""
    sensitive = "of either case" if dialect == "sqlite" else "of the same case"
    return f"{sensitive}, {_escape(node, dialect) or 'no'} escape"


def _escape(node: exp.Expr, dialect: str) -> str:
    if isinstance(node, exp.Escape):
        return str(node.expression.name)
    return "\\" if dialect in _ESCAPES else ""


def _write_like(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    like = node.this if isinstance(node, exp.Escape) else node
    case, escape = meaning.split(", ")
    escape = escape.removesuffix(" escape").removeprefix("no")
    text, pattern = like.this, like.expression
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        return _like_of(node, text, pattern, case, escape, target)
    parts = [*_parts(pattern.name, escape)]
    if target == "sqlite":
        glob = "".join(_globbed(part, literal=literal) for part, literal in parts)
        return written(
            f"{{0}} {_not(like)}GLOB {{1}}", node, target, text, exp.Literal.string(glob)
        )
    plain = not any(literal and part in (ANY, ONE, "\\") for part, literal in parts)
    name = _not(like) + ("ILIKE" if case == "of either case" else "LIKE")
    shown = "".join(
        f"\\{part}" if literal and part in (ANY, ONE, "\\") else part for part, literal in parts
    )
    declared = "" if plain or target in _ESCAPES else " ESCAPE '\\'"
    return _matched(name, declared, node, target, text, exp.Literal.string(shown))


def _matched(
    name: str, declared: str, node: exp.Expr, target: str, text: exp.Expr, pattern: exp.Expr
) -> exp.Expr:
    if name.endswith("ILIKE") and target == "mysql":
        name = name.replace("ILIKE", "LIKE")
        return written(f"LOWER({{0}}) {name} LOWER({{1}})", node, target, text, pattern)
    return written(f"{{0}} {name} {{1}}{declared}", node, target, text, pattern)


def _not(like: exp.Expr) -> str:
    return "NOT " if like.args.get("negate") else ""


def _like_of(
    node: exp.Expr, text: exp.Expr, pattern: exp.Expr, case: str, escape: str, target: str
) -> exp.Expr | None:
    """One whose pattern is only known when it is executed."""
    if isinstance(node, exp.Escape):
        raise gap("LIKE with ESCAPE", target)
    if target == "sqlite":
        # Without an escape: a backslash that a pattern has by chance is no wildcard there either.
        replaced = "{1}"
        for old, new in (("[", "[[]"), ("*", "[*]"), ("?", "[?]"), ("%", "*"), ("_", "?")):
            replaced = f"REPLACE({replaced}, '{old}', '{new}')"
        return written(f"{{0}} {_not(node)}GLOB {replaced}", node, target, text, pattern)
    name = _not(node) + ("ILIKE" if case == "of either case" else "LIKE")
    if not escape and target in _ESCAPES:
        doubled = "'\\\\', '\\\\\\\\'" if target != "postgres" else "'\\', '\\\\'"
        whole = f"REPLACE({operand(pattern, target)}, {doubled})"
        return _matched(name, "", node, target, text, exp.Var(this=whole))
    declared = " ESCAPE '\\'" if escape and target not in _ESCAPES else ""
    return _matched(name, declared, node, target, text, pattern)


def _parts(pattern: str, escape: str) -> Iterator[tuple[str, bool]]:
    """Each letter of a pattern, and whether it stands for itself."""
    letters = iter(pattern)
    for letter in letters:
        if escape and letter == escape:
            yield next(letters, escape), True
        else:
            yield letter, letter not in (ANY, ONE)


def _globbed(part: str, *, literal: bool) -> str:
    if not literal:
        return "*" if part == ANY else "?"
    return f"[{part}]" if part in "*?[" else part


_COUNTED = {
    "postgres": "from the place, also before the text",
    "sqlite": "from the end where negative", "duckdb": "from the end where negative",
    "mysql": "of MariaDB", "clickhouse": "of ClickHouse", "spark": "of Spark",
}  # fmt: skip


def _part(node: exp.Expr, dialect: str) -> str:
    start = node.args.get("start")
    if isinstance(start, exp.Literal) and start.name.isdigit() and int(start.name) > 0:
        return ""  # it is the same to all
    return _COUNTED.get(dialect, "")


def _write_part(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if meaning not in (_COUNTED["postgres"], _COUNTED["sqlite"], _COUNTED["mysql"]):
        raise gap("a part of a text that may begin outside it", target)
    if node.args["start"].is_string:
        raise gap("a part of a text by a pattern", target)
    text, start = operand(node.this, target), operand(node.args["start"], target)
    size = f"{'CHAR_LENGTH' if target in ('mysql', 'clickhouse') else 'LENGTH'}({text})"
    if meaning == _COUNTED["mysql"]:
        inner = _write_part(node, _COUNTED["sqlite"], target) if target not in (
            "sqlite", "duckdb") else node  # fmt: skip
        assert inner is not None  # noqa: S101 - the meaning of SQLite has a text for each
        found = operand(inner, target)
        return exp.Var(
            this=f"(CASE WHEN {start} = 0 AND {size} >= 0 OR -{start} > {size} THEN ''"
            f" ELSE {found} END)"
        )
    if meaning == _COUNTED["sqlite"]:
        start = f"(CASE WHEN {start} < 0 THEN {size} + 1 + {start} ELSE {start} END)"
    if target == "postgres":
        end = node.args.get("length")
        return exp.Var(this=f"SUBSTR({text}, {start}{_more(end and operand(end, target))})")
    first = f"CASE WHEN {start} <= 0 THEN 1 ELSE {start} END"
    if (end := node.args.get("length")) is None:
        return exp.Var(this=f"SUBSTRING({text}, {first})")
    count = operand(end, target)
    rest = f"CASE WHEN {count} + {start} <= 1 THEN 0 ELSE {count} + {start} - 1 END"
    length = f"CASE WHEN {start} <= 0 THEN {rest} ELSE {count} END"
    return exp.Var(this=f"SUBSTRING({text}, {first}, {length})")


def _more(text: str | None) -> str:
    return f", {text}" if text else ""


def _literal(node: exp.Expr | None) -> int | None:
    if isinstance(node, exp.Neg):
        inner = _literal(node.this)
        return None if inner is None else -inner
    if isinstance(node, exp.Literal) and node.name.isdigit():
        return int(node.name)
    return None


_ILIKE = dict.fromkeys(("postgres", "duckdb", "clickhouse", "spark"), "ILIKE") | dict.fromkeys(
    ("sqlite", "mysql"), "none"
)


def _ends(node: exp.Expr, dialect: str) -> str:
    if dialect == "sqlite":
        return "none"
    count = _literal(node.expression)
    if count is not None and count > 0:
        return "so many"
    return "all but so many" if dialect in ("postgres", "duckdb", "clickhouse") else "none"


def _write_ends(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    count = _literal(node.expression)
    if count is None:
        return None
    if meaning == "none" or target == "clickhouse":
        raise gap("a negative number of letters", target)
    size = "CHAR_LENGTH" if target in ("mysql", "clickhouse") else "LENGTH"
    if isinstance(node, exp.Left):
        text = f"SUBSTR({{0}}, 1, {count})" if count >= 0 else (
            f"SUBSTR({{0}}, 1, CASE WHEN {size}({{0}}) > {-count}"
            f" THEN {size}({{0}}) - {-count} ELSE 0 END)"
        )  # fmt: skip
    else:
        text = f"SUBSTR({{0}}, {-count})" if count > 0 else f"SUBSTR({{0}}, {1 - count})"
    return written(text, node, target, node.this)


def _joined(node: exp.Expr, dialect: str) -> str:
    """`||` beside another operator, which it binds closer than in SQLite alone."""
    if not any(isinstance(one, exp.Binary) and not isinstance(one, exp.DPipe)
               for one in (node.this, node.expression)):  # fmt: skip
        return ""
    return "binds closest" if dialect == "sqlite" else "binds as other operators do"


def _write_joined(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    del meaning, target
    found = node.copy()
    for key in ("this", "expression"):
        if isinstance(found.args[key], exp.Binary) and not isinstance(found.args[key], exp.DPipe):
            found.set(key, exp.paren(found.args[key], copy=True))
    return found


def _replaced(node: exp.Expr, dialect: str) -> str:
    """Of a regular expression in a text."""
    if dialect == "sqlite":
        return "unknown"
    if dialect in ("mysql", "spark"):
        return "each"
    flags = node.args.get("modifiers")
    every = flags is not None and "g" in flags.name
    return "each" if every or dialect == "clickhouse" else "the first"


def _write_replaced(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    pattern = node.expression
    anchored = isinstance(pattern, exp.Literal) and pattern.name.startswith("^")
    flags = node.args.get("modifiers")
    if target == "sqlite" or (flags is not None and flags.name not in ("", "g")):
        raise gap("a regular expression", target)
    operands = (node.this, pattern, node.args.get("replacement") or exp.Literal.string(""))
    if target == "clickhouse":
        name = "replaceRegexpAll" if meaning == "each" else "replaceRegexpOne"
        return written(f"{name}({{0}}, {{1}}, {{2}})", node, target, *operands)
    if target in ("mysql", "spark"):
        if meaning == "the first" and not anchored:
            raise gap("the first place of a regular expression alone", target)
        return written("REGEXP_REPLACE({0}, {1}, {2})", node, target, *operands)
    more = ", 'g'" if meaning == "each" else ""
    return written(f"REGEXP_REPLACE({{0}}, {{1}}, {{2}}{more})", node, target, *operands)


def _write_similar(_node: exp.Expr, _meaning: str, target: str) -> exp.Expr | None:
    raise gap("SIMILAR TO", target)


TEXTS = (
    Construct(
        "LIKE", (exp.Like, exp.Escape), _like, _write_like,
        ("s LIKE 'a%'", "s LIKE '%A'", "s LIKE '_b*'", "s LIKE s || '%'",
         "s NOT LIKE 'a%'", "s NOT LIKE s || '%'", "s ILIKE 'a%'", "s NOT ILIKE 'a%'"),
    ),
    Construct(
        "ILIKE", (exp.ILike,),
        of_dialects(_ILIKE, lambda node: not isinstance(node.parent, exp.Escape)),
        lambda node, meaning, target: written(
            f"LOWER({{0}}) {_not(node)}LIKE LOWER({{1}})", node, target, *both(node)
        ) if meaning == "ILIKE" else None,
        (),
    ),
    Construct(
        "the first or last letters", (exp.Left, exp.Right), _ends, _write_ends,
        ("left(s, 2)", "right(s, 2)", "left(s, -1)", "right(s, -1)"),
    ),
    Construct(
        "SIMILAR TO", (exp.SimilarTo,),
        of_dialects({"postgres": "as SQL has it", "duckdb": "a regular expression"}
                    | dict.fromkeys(("sqlite", "mysql", "clickhouse", "spark"), "unknown"),
                    lambda node: isinstance(node, exp.SimilarTo)),
        _write_similar,
        (),
    ),
    Construct(
        "a part of a text", (exp.Substring,), _part, _write_part,
        ("substr(s, 0, 3)", "substr(s, -1, 3)", "substr(s, i, 2)", "substr(s, i)"),
    ),
    Construct(
        "|| beside another operator", (exp.DPipe,), _joined, _write_joined, ("i + 1 || s",)
    ),
    Construct(
        "the length of a text", (exp.Length,),
        of_dialects(
            dict.fromkeys(("mysql", "clickhouse", "duckdb"), "in bytes")
            | dict.fromkeys(("postgres", "sqlite", "spark"), "in letters"),
            lambda node: bool(node.args.get("binary")),
        ),
        formed({"in bytes": {
            "postgres": "OCTET_LENGTH({0})", "spark": "OCTET_LENGTH({0})",
            "sqlite": "LENGTH(CAST({0} AS BLOB))",
        }}, lambda node: (node.this,)),
        ("length(s)",),
    ),
    Construct(
        "regexp_replace", (exp.RegexpReplace,), _replaced, _write_replaced,
        ("regexp_replace(s, '^(.)b', '\\1')",),
    ),
)  # fmt: skip
