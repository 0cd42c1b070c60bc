"""Finished matches are analysed."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "analyses",
        sa.Column("match_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("wanted_at", sa.BigInteger(), nullable=False),
        sa.Column("claim", sa.Text(), nullable=True),
        sa.Column("claimed_until", sa.BigInteger(), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("level", sa.Text(), nullable=True),
        sa.Column("judges", sa.Text(), nullable=True),
        sa.Column("phases", sa.Integer(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("objective_for_a", sa.Double(), nullable=True),
        sa.Column("found", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'failed')", name=op.f("ck_analyses_state")
        ),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_analyses_match_id")),
        sa.PrimaryKeyConstraint("match_id", name=op.f("pk_analyses")),
    )
    op.create_index(op.f("ix_analyses_state"), "analyses", ["state", "wanted_at"], unique=False)
    op.create_table(
        "judged_phases",
        sa.Column("match_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("judged", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["analyses.match_id"], name=op.f("fk_judged_phases_match_id")),
        sa.PrimaryKeyConstraint("match_id", "number", name=op.f("pk_judged_phases")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("judged_phases")
    op.drop_index(op.f("ix_analyses_state"), table_name="analyses")
    op.drop_table("analyses")
