"""Personal links of entrants: on whose list an account was made, and how many of its links are void."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("accounts") as batch:
        batch.add_column(sa.Column("maker", sa.Text(), nullable=True))
        batch.add_column(sa.Column("links", sa.Integer(), server_default="0", nullable=False))
        batch.create_foreign_key(op.f("fk_accounts_maker"), "accounts", ["maker"], ["id"])


def downgrade() -> None:
    with op.batch_alter_table("accounts") as batch:
        batch.drop_constraint(op.f("fk_accounts_maker"), type_="foreignkey")
        batch.drop_column("links")
        batch.drop_column("maker")
