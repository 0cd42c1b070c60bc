"""Results are looked up by account."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(op.f("ix_results_account_a"), "results", ["account_a"], unique=False)
    op.create_index(op.f("ix_results_account_b"), "results", ["account_b"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_results_account_b"), table_name="results")
    op.drop_index(op.f("ix_results_account_a"), table_name="results")
