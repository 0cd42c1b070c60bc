"""Bots; waiting matches that expire; which server has which computer, and where one is waited for."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_DAY_MS = 86_400_000


def upgrade() -> None:
    with op.batch_alter_table("accounts") as batch:
        batch.drop_constraint(op.f("ck_accounts_kind"), type_="check")
        batch.create_check_constraint(op.f("ck_accounts_kind"), "kind IN ('guest', 'computer', 'bot')")
    op.create_table(
        "bots",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("token", sa.LargeBinary(), nullable=True),
        sa.Column("token_at", sa.BigInteger(), nullable=True),
        sa.Column("retired_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["account"], ["accounts.id"], name=op.f("fk_bots_account")),
        sa.ForeignKeyConstraint(["owner"], ["accounts.id"], name=op.f("fk_bots_owner")),
        sa.PrimaryKeyConstraint("account", name=op.f("pk_bots")),
        sa.UniqueConstraint("token", name=op.f("uq_bots_token")),
    )
    op.create_index(op.f("ix_bots_owner"), "bots", ["owner"], unique=False)
    with op.batch_alter_table("matches") as batch:
        batch.add_column(sa.Column("computer_since", sa.BigInteger(), nullable=True))
        batch.add_column(sa.Column("cancelled", sa.Text(), nullable=True))
        batch.create_check_constraint(op.f("ck_matches_cancelled"), "cancelled IN ('maker', 'expired')")
    op.execute("UPDATE matches SET cancelled = 'maker' WHERE state = 'cancelled'")
    op.execute(f"UPDATE matches SET deadline = created_at + {_DAY_MS} WHERE state = 'waiting'")
    with op.batch_alter_table("nodes") as batch:
        batch.add_column(sa.Column("computers", sa.Text(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("nodes") as batch:
        batch.drop_column("computers")
    op.execute("UPDATE matches SET deadline = NULL WHERE state = 'waiting'")
    with op.batch_alter_table("matches") as batch:
        batch.drop_constraint(op.f("ck_matches_cancelled"), type_="check")
        batch.drop_column("cancelled")
        batch.drop_column("computer_since")
    op.drop_index(op.f("ix_bots_owner"), table_name="bots")
    op.drop_table("bots")
    op.execute("UPDATE accounts SET kind = 'guest' WHERE kind = 'bot'")
    with op.batch_alter_table("accounts") as batch:
        batch.drop_constraint(op.f("ck_accounts_kind"), type_="check")
        batch.create_check_constraint(op.f("ck_accounts_kind"), "kind IN ('guest', 'computer')")
