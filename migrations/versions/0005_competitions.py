"""Competitions: their facts, entrants, shared dice and notes; which matches are theirs."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "competitions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("title_ru", sa.Text(), nullable=False),
        sa.Column("title_en", sa.Text(), nullable=False),
        sa.Column("about_ru", sa.Text(), nullable=False),
        sa.Column("about_en", sa.Text(), nullable=False),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("lot_seed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("watched", sa.Boolean(), nullable=False),
        sa.Column("starts_at", sa.BigInteger(), nullable=True),
        sa.Column("entrants", sa.Integer(), nullable=False),
        sa.Column("computer", sa.Text(), nullable=True),
        sa.Column("claim", sa.Text(), nullable=True),
        sa.Column("claimed_until", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "state IN ('announced', 'entry', 'running', 'finished', 'cancelled')",
            name=op.f("ck_competitions_state"),
        ),
        sa.CheckConstraint("visibility IN ('public', 'unlisted')", name=op.f("ck_competitions_visibility")),
        sa.ForeignKeyConstraint(["computer"], ["accounts.id"], name=op.f("fk_competitions_computer")),
        sa.ForeignKeyConstraint(["owner"], ["accounts.id"], name=op.f("fk_competitions_owner")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competitions")),
    )
    for index, columns in (
        ("ix_competitions_visibility", ["visibility", "state", "created_at"]),
        ("ix_competitions_owner", ["owner", "created_at"]),
        ("ix_competitions_watched", ["watched"]),
        ("ix_competitions_due_at", ["due_at"]),
    ):
        op.create_index(op.f(index), "competitions", columns, unique=False)
    op.create_table(
        "competition_facts",
        sa.Column("competition", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("command_id", sa.Text(), nullable=True),
        sa.Column("actor", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("format", sa.Integer(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition"], ["competitions.id"], name=op.f("fk_competition_facts_competition")
        ),
        sa.PrimaryKeyConstraint("competition", "version", name=op.f("pk_competition_facts")),
        sa.UniqueConstraint("competition", "command_id", name=op.f("uq_competition_facts_competition")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "competition_entries",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("competition", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["account"], ["accounts.id"], name=op.f("fk_competition_entries_account")),
        sa.ForeignKeyConstraint(
            ["competition"], ["competitions.id"], name=op.f("fk_competition_entries_competition")
        ),
        sa.PrimaryKeyConstraint("account", "competition", name=op.f("pk_competition_entries")),
    )
    op.create_index(
        op.f("ix_competition_entries_competition"), "competition_entries", ["competition"], unique=False
    )
    op.create_table(
        "competition_boards",
        sa.Column("dice_id", sa.Text(), nullable=False),
        sa.Column("competition", sa.Text(), nullable=False),
        sa.Column("server_seed", sa.LargeBinary(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("seeds", sa.Text(), nullable=True),
        sa.Column("shared_seed", sa.Text(), nullable=True),
        sa.Column("disclosed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition"], ["competitions.id"], name=op.f("fk_competition_boards_competition")
        ),
        sa.PrimaryKeyConstraint("dice_id", name=op.f("pk_competition_boards")),
    )
    op.create_index(
        op.f("ix_competition_boards_competition"), "competition_boards", ["competition"], unique=False
    )
    with op.batch_alter_table("matches") as batch:
        batch.add_column(sa.Column("competition", sa.Text(), nullable=True))
        batch.add_column(sa.Column("reported", sa.Boolean(), nullable=True))
        batch.add_column(sa.Column("secret", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch.create_foreign_key(op.f("fk_matches_competition"), "competitions", ["competition"], ["id"])
    op.create_index(op.f("ix_matches_reported"), "matches", ["reported", "competition"], unique=False)
    op.create_table(
        "competition_notes",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("competition", sa.Text(), nullable=False),
        sa.Column("match_id", sa.Text(), nullable=True),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition"], ["competitions.id"], name=op.f("fk_competition_notes_competition")
        ),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_competition_notes_match_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_competition_notes")),
    )
    op.create_index(
        op.f("ix_competition_notes_competition"), "competition_notes", ["competition"], unique=False
    )


def downgrade() -> None:
    op.drop_table("competition_notes")
    op.drop_index(op.f("ix_matches_reported"), table_name="matches")
    with op.batch_alter_table("matches") as batch:
        batch.drop_constraint(op.f("fk_matches_competition"), type_="foreignkey")
        batch.drop_column("secret")
        batch.drop_column("reported")
        batch.drop_column("competition")
    op.drop_table("competition_boards")
    op.drop_table("competition_entries")
    op.drop_table("competition_facts")
    op.drop_table("competitions")
