"""The places of a source file where a fault can be planted, and the text that plants it."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.BitXor: ast.BitOr,
}
NUMBERS = {"int", "float"}


@dataclass(frozen=True)
class Place:
    """One fault that can be planted.

    Attributes:
        operator: the kind of change.
        line: from 1.
        start: the first byte of what is replaced.
        end: the byte after it.
        now: what takes its place; it has as many lines.
        is_statement: a whole statement is replaced, else an expression.
        in_function: it runs when a function is called, else when the module is imported.
        in_kernel: the function is compiled by numba.
        names: what the statement defines, where it runs at import.
    """

    operator: str
    line: int
    start: int
    end: int
    now: str
    is_statement: bool
    in_function: bool
    in_kernel: bool
    names: tuple[str, ...]


def planted(source: bytes, place: Place) -> bytes:
    """The source with one fault."""
    return source[: place.start] + place.now.encode() + source[place.end :]


def is_kernel(function: ast.AST) -> bool:
    """Whether numba compiles a function: it has a decorator whose name begins with `njit`."""
    for decorator in getattr(function, "decorator_list", []):
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        if str(getattr(name, "attr", getattr(name, "id", ""))).startswith("njit"):
            return True
    return False


def find_places(source: bytes) -> list[Place]:
    """All places of a source file, in their order."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return sorted(finder.places, key=lambda place: (place.start, place.end, place.operator, place.now))


def line_starts(source: bytes) -> list[int]:
    """The first byte of every line."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


@dataclass
class _Context:
    in_function: bool = False
    in_kernel: bool = False
    returns: str = ""
    names: tuple[str, ...] = ()


@dataclass
class _Finder(ast.NodeVisitor):
    source: bytes
    places: list[Place] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.starts = line_starts(self.source)
        self.context = _Context()

    def add(self, operator: str, node: ast.AST, new: ast.AST | str) -> None:
        """Note that `new` may take the place of `node`."""
        at: Any = node
        start = self.starts[at.lineno - 1] + at.col_offset
        end = self.starts[at.end_lineno - 1] + at.end_col_offset
        more = "\n" * (at.end_lineno - at.lineno)
        is_statement = isinstance(node, ast.stmt)
        text = new if isinstance(new, str) else ast.unparse(new)
        now = text + more if is_statement else f"({text}{more})"
        where = self.context
        self.places.append(
            Place(
                operator,
                at.lineno,
                start,
                end,
                now,
                is_statement,
                where.in_function,
                where.in_kernel,
                where.names,
            )
        )

    def inside(self, context: _Context, nodes: list[Any]) -> None:
        """Visit nodes in another context."""
        before, self.context = self.context, context
        for node in nodes:
            self.visit(node)
        self.context = before

    # What holds statements

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer = self.context
        names = outer.names if outer.in_function else (*outer.names, node.name)
        defaults = [*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)]
        self.inside(_Context(outer.in_function, outer.in_kernel, outer.returns, names), defaults)
        returns = ast.unparse(node.returns) if node.returns else ""
        kernel = outer.in_kernel or is_kernel(node)
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        self.inside(_Context(True, kernel, returns, names), body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.inside(_Context(True, self.context.in_kernel, "", self.context.names), [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer = self.context
        self.inside(_Context(outer.in_function, outer.in_kernel, "", (*outer.names, node.name)), node.body)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """What is formatted has no positions that can be relied on."""

    def visit_match_case(self, node: ast.match_case) -> None:
        for one in [node.guard, *node.body]:
            if one is not None:
                self.visit(one)

    def visit_If(self, node: ast.If) -> None:
        test = ast.unparse(node.test)
        if test.endswith("TYPE_CHECKING") or test.startswith("__name__"):
            return
        self.negate(node.test)
        self.generic_visit(node)

    # Statements

    def assigned(self, targets: list[ast.expr], node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        """An assignment at import defines names; one into an array or an attribute can be left out."""
        if not self.context.in_function:
            names = tuple(
                one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)
            )
            nodes = [*targets, *([node.value] if node.value is not None else [])]
            self.inside(_Context(names=(*self.context.names, *names)), nodes)
            return
        if node.value is not None and all(isinstance(one, ast.Attribute | ast.Subscript) for one in targets):
            self.add("statement", node, "pass")
        for one in [*targets, *([node.value] if node.value is not None else [])]:
            self.visit(one)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(one, ast.Name) and one.id.startswith("__") for one in node.targets):
            return
        self.assigned(node.targets, node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.assigned([node.target], node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if self.context.in_function:
            self.add("statement", node, "pass")
            if type(node.op) in ARITHMETIC and not _is_text(node.value):
                other = copy.deepcopy(node)
                other.op = ARITHMETIC[type(node.op)]()
                self.add("arithmetic", node, other)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node.value, ast.Call) and self.context.in_function:
            self.add("statement", node, "pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.add("statement", node, "pass")
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self.add("statement", node, "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add("statement", node, "pass")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            return
        if self.context.returns == "bool":
            self.negate(node.value, "return")
        elif self.context.returns in NUMBERS:
            if not isinstance(node.value, ast.Constant):  # whose change is a place by itself
                self.add("return", node.value, ast.BinOp(node.value, ast.Add(), ast.Constant(1)))
        elif not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self.add("return", node.value, "None")
        self.visit(node.value)

    # Expressions

    def negate(self, test: ast.expr, operator: str = "condition") -> None:
        """A condition, or the opposite; comparisons and `not` have changes of their own."""
        if not isinstance(test, ast.Compare | ast.Constant) and not _is_not(test):
            self.add(operator, test, ast.UnaryOp(ast.Not(), test))

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.negate(test)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for number, op in enumerate(node.ops):
            other = copy.deepcopy(node)
            other.ops[number] = COMPARISONS[type(op)]()
            self.add("comparison", node, other)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        is_type = isinstance(node.op, ast.BitOr) and not self.context.in_function
        texts = _is_text(node.left) or _is_text(node.right)
        if type(node.op) in ARITHMETIC and not is_type and not texts:
            other = copy.deepcopy(node)
            other.op = ARITHMETIC[type(node.op)]()
            self.add("arithmetic", node, other)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = copy.deepcopy(node)
        other.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self.add("and or", node, other)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self.add("not" if isinstance(node.op, ast.Not) else "sign", node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add("constant", node, str(not node.value))
        elif isinstance(node.value, int | float):
            self.add("constant", node, repr(node.value + 1))

    def visit_Slice(self, node: ast.Slice) -> None:
        if node.upper is not None and not isinstance(node.upper, ast.Constant):
            self.add("bound", node.upper, ast.BinOp(node.upper, ast.Sub(), ast.Constant(1)))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id == "range" and not node.keywords:
            stop = node.args[min(1, len(node.args) - 1)]
            if not isinstance(stop, ast.Starred):
                self.add("bound", stop, ast.BinOp(stop, ast.Sub(), ast.Constant(1)))
        self.generic_visit(node)


def _is_not(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def functions_mentioning(tree: ast.AST, names: set[str]) -> Iterator[ast.FunctionDef]:
    """Functions that have or mention one of the names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (node.name in names or mentioned(node) & names):
            yield node


def mentioned(node: ast.AST) -> set[str]:
    """All names and attributes in a part of a program."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return names | {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
