"""The environment, read once."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app import settings as settings_module
from app.settings import BadSettings, Settings, read_settings


def test_without_any_setting_a_server_runs() -> None:
    settings = read_settings({"PATH": "/bin"})
    assert settings == Settings()
    assert (settings.host, settings.port, settings.log_level) == ("127.0.0.1", 8000, "info")
    assert (settings.analysis_level, settings.analysis_workers) == ("expert", 1)
    assert settings.sqlite_file == Path("data/nardy.sqlite3")


def test_an_empty_environment_is_not_the_process_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "1234")
    assert read_settings({}).port == 8000
    assert read_settings().port == 1234


def test_every_setting() -> None:
    settings = read_settings(
        {
            "HOST": "0.0.0.0",
            "PORT": "80",
            "DATABASE_URL": "postgresql://nardy:pass@db/nardy",
            "DATA_DIR": "/data",
            "SECRET_KEY": "sixteen letters!",
            "BASE_URL": "https://nardy.example/",
            "LOG_LEVEL": "WARNING",
            "FORWARDED_ALLOW_IPS": "10.0.0.1",
            "LOG_FORMAT": "JSON",
            "COMPUTER_WORKERS": "3",
            "ANALYSIS_LEVEL": "Master",
            "ANALYSIS_WORKERS": "2",
            "LINK_HOURS": "48",
            "UNSEEN_MINUTES": "5",
            "NEWCOMERS_AN_HOUR": "0",
        }
    )
    assert settings == Settings(
        "0.0.0.0",
        80,
        "postgresql://nardy:pass@db/nardy",
        Path("/data"),
        "sixteen letters!",
        "https://nardy.example",
        "warning",
        "10.0.0.1",
        "json",
        3,
        "master",
        2,
        48,
        5,
        0,
    )
    assert settings.sqlite_file is None
    assert settings.secret() == "sixteen letters!"
    assert "pass@db" not in repr(settings)
    assert "sixteen" not in repr(settings)


def test_every_setting_is_described() -> None:
    text = settings_module.__doc__
    assert text is not None
    for name in Settings.__dataclass_fields__:
        assert f"`{name.upper()}`" in text


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PORT", "http"),
        ("PORT", "65536"),
        ("PORT", "-1"),
        ("DATABASE_URL", "mysql://x"),
        ("DATABASE_URL", "nardy.sqlite3"),
        ("DATABASE_URL", "postgresql://nardy:pa/ss@db/nardy"),
        ("DATABASE_URL", "postgresql://nardy:pass@[db/nardy"),
        ("DATABASE_URL", "sqlite://"),
        ("DATABASE_URL", "sqlite:///:memory:"),
        ("SECRET_KEY", "short"),
        ("BASE_URL", "nardy.example"),
        ("BASE_URL", "https://nardy.example/play"),
        ("LOG_LEVEL", "loud"),
        ("LOG_FORMAT", "xml"),
        ("COMPUTER_WORKERS", "0"),
        ("COMPUTER_WORKERS", "many"),
        ("ANALYSIS_LEVEL", "beginner"),
        ("ANALYSIS_WORKERS", "0"),
        ("LINK_HOURS", "0"),
        ("UNSEEN_MINUTES", "0"),
        ("UNSEEN_MINUTES", "half an hour"),
        ("NEWCOMERS_AN_HOUR", "-1"),
    ],
)
def test_what_no_server_can_run_by(variable: str, value: str) -> None:
    with pytest.raises(BadSettings, match=variable) as bad:
        read_settings({variable: value})
    assert bad.value.variable == variable


@pytest.mark.parametrize(
    ("url", "file"), [("sqlite:///a/b.sqlite3", "a/b.sqlite3"), ("sqlite:////a/b.sqlite3", "/a/b.sqlite3")]
)
def test_a_database_file_elsewhere(url: str, file: str) -> None:
    assert read_settings({"DATABASE_URL": url}).sqlite_file == Path(file)


def test_the_secret_is_made_once_and_kept_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    with ThreadPoolExecutor(8) as threads:
        secrets = set(threads.map(lambda _: Settings(data_dir=folder).secret(), range(32)))
    assert len(secrets) == 1
    assert len(secrets.pop()) >= 32
    assert [file.name for file in folder.iterdir()] == ["secret.key"]
    assert stat.S_IMODE((folder / "secret.key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_damaged_secret_is_not_replaced_in_silence(tmp_path: Path) -> None:
    (tmp_path / "secret.key").write_text("\n")
    with pytest.raises(BadSettings, match="restore"):
        Settings(data_dir=tmp_path).secret()
