"""Organisers: their programs' keys, and the log of what is in no competition's facts."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "admin_keys",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("competition", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("call", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("role IN ('owner', 'arbiter', 'observer')", name=op.f("ck_admin_keys_role")),
        sa.ForeignKeyConstraint(["competition"], ["competitions.id"], name=op.f("fk_admin_keys_competition")),
        sa.ForeignKeyConstraint(["holder"], ["accounts.id"], name=op.f("fk_admin_keys_holder")),
        sa.ForeignKeyConstraint(["owner"], ["accounts.id"], name=op.f("fk_admin_keys_owner")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_admin_keys")),
        sa.UniqueConstraint("hash", name=op.f("uq_admin_keys_hash")),
    )
    op.create_index(op.f("ix_admin_keys_owner"), "admin_keys", ["owner", "created_at"], unique=False)
    op.create_table(
        "organisers_log",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("competition", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=True),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition"], ["competitions.id"], name=op.f("fk_organisers_log_competition")
        ),
        sa.ForeignKeyConstraint(["owner"], ["accounts.id"], name=op.f("fk_organisers_log_owner")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_organisers_log")),
    )
    op.create_index(op.f("ix_organisers_log_competition"), "organisers_log", ["competition"], unique=False)
    op.create_index(op.f("ix_organisers_log_owner"), "organisers_log", ["owner", "number"], unique=False)


def downgrade() -> None:
    op.drop_table("organisers_log")
    op.drop_table("admin_keys")
