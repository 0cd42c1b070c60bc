"""Who may import whom, where import-linter cannot say it."""

import ast
from collections.abc import Iterator
from pathlib import Path

HOUSE = Path(__file__).parents[1]


def imports(file: Path) -> Iterator[tuple[str, list[str]]]:
    """The modules that a file imports, each with the names taken from it (none: the module as a whole)."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", [alias.name for alias in node.names]


def test_the_web_takes_nothing_but_views_from_the_view_module() -> None:
    for file in (HOUSE / "app" / "web").rglob("*.py"):
        for module, names in imports(file):
            if module == "engine":
                assert "view" not in names, f"{file.name}: take the View classes by name"
            if module == "engine.view":
                taken = names or ["all of it"]
                assert all(name.endswith("View") for name in taken), f"{file.name} takes {', '.join(taken)}"


def test_a_migration_does_not_change_with_the_code() -> None:
    for file in (HOUSE / "migrations" / "versions").rglob("*.py"):
        assert not {module.partition(".")[0] for module, _ in imports(file)} & {"app", "engine"}, file.name
