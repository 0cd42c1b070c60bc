"""Accounts, ratings, matches, their journal and results, the servers and who is connected to them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("kind IN ('guest', 'computer')", name=op.f("ck_accounts_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("folded", "version", "tag", name=op.f("uq_accounts_folded")),
    )
    op.create_table(
        "key_checks",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_key_checks")),
    )
    op.create_table(
        "nodes",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("heartbeat", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "state IN ('joining', 'taking-up', 'serving', 'left')", name=op.f("ck_nodes_state")
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_nodes")),
        sa.UniqueConstraint("id", name=op.f("uq_nodes_id")),
    )
    op.create_table(
        "idempotency",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("call", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account"], ["accounts.id"], name=op.f("fk_idempotency_account")),
        sa.PrimaryKeyConstraint("account", "key", name=op.f("pk_idempotency")),
    )
    op.create_table(
        "matches",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("deadline", sa.BigInteger(), nullable=True),
        sa.Column("preset", sa.Text(), nullable=False),
        sa.Column("ruleset", sa.Text(), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("code", sa.Text(), nullable=True),
        sa.Column("maker", sa.Text(), nullable=False),
        sa.Column("seat_a", sa.Text(), nullable=True),
        sa.Column("seat_b", sa.Text(), nullable=True),
        sa.Column("computers", sa.Text(), nullable=False),
        sa.Column("server_seed", sa.LargeBinary(), nullable=False),
        sa.Column("dice_id", sa.Text(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("rematch_of", sa.Text(), nullable=True),
        sa.Column("rematch_asked", sa.Text(), nullable=False),
        sa.Column("rematch_id", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'playing', 'over', 'cancelled')", name=op.f("ck_matches_state")
        ),
        sa.ForeignKeyConstraint(["maker"], ["accounts.id"], name=op.f("fk_matches_maker")),
        sa.ForeignKeyConstraint(["rematch_of"], ["matches.id"], name=op.f("fk_matches_rematch_of")),
        sa.ForeignKeyConstraint(["seat_a"], ["accounts.id"], name=op.f("fk_matches_seat_a")),
        sa.ForeignKeyConstraint(["seat_b"], ["accounts.id"], name=op.f("fk_matches_seat_b")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_matches")),
        sa.UniqueConstraint("code", name=op.f("uq_matches_code")),
        postgresql_with={"fillfactor": 60},
    )
    op.create_index(op.f("ix_matches_seat_a"), "matches", ["seat_a", "created_at"], unique=False)
    op.create_index(op.f("ix_matches_seat_b"), "matches", ["seat_b", "created_at"], unique=False)
    op.create_index(op.f("ix_matches_state"), "matches", ["state", "created_at"], unique=False)
    op.create_table(
        "points_ratings",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("competition", sa.Text(), nullable=False),
        sa.Column("season", sa.Text(), nullable=False),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account"], ["accounts.id"], name=op.f("fk_points_ratings_account")),
        sa.PrimaryKeyConstraint("account", "competition", "season", name=op.f("pk_points_ratings")),
    )
    op.create_table(
        "strengths",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("r", sa.Double(), nullable=False),
        sa.Column("rd", sa.Double(), nullable=False),
        sa.Column("vol", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account"], ["accounts.id"], name=op.f("fk_strengths_account")),
        sa.PrimaryKeyConstraint("account", "variant", name=op.f("pk_strengths")),
    )
    op.create_table(
        "journal",
        sa.Column("match_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("command_id", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("format", sa.Integer(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_journal_match_id")),
        sa.PrimaryKeyConstraint("match_id", "version", name=op.f("pk_journal")),
        sa.UniqueConstraint("match_id", "command_id", name=op.f("uq_journal_match_id")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "results",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("match_id", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("by_seat", sa.Text(), nullable=True),
        sa.Column("x_outcome", sa.Text(), nullable=False),
        sa.Column("x_class", sa.Text(), nullable=True),
        sa.Column("x_winner", sa.Text(), nullable=True),
        sa.Column("x_points_for_a", sa.Integer(), nullable=False),
        sa.Column("x_white_pips", sa.Integer(), nullable=False),
        sa.Column("x_black_pips", sa.Integer(), nullable=False),
        sa.Column("x_white_checkers", sa.Integer(), nullable=False),
        sa.Column("x_black_checkers", sa.Integer(), nullable=False),
        sa.Column("y_outcome", sa.Text(), nullable=False),
        sa.Column("y_class", sa.Text(), nullable=True),
        sa.Column("y_winner", sa.Text(), nullable=True),
        sa.Column("y_points_for_a", sa.Integer(), nullable=False),
        sa.Column("y_white_pips", sa.Integer(), nullable=False),
        sa.Column("y_black_pips", sa.Integer(), nullable=False),
        sa.Column("y_white_checkers", sa.Integer(), nullable=False),
        sa.Column("y_black_checkers", sa.Integer(), nullable=False),
        sa.Column("credit_for_a", sa.Integer(), nullable=False),
        sa.Column("net_for_a", sa.Integer(), nullable=False),
        sa.Column("winner", sa.Text(), nullable=True),
        sa.Column("charged_a_ms", sa.BigInteger(), nullable=False),
        sa.Column("charged_b_ms", sa.BigInteger(), nullable=False),
        sa.Column("time_adjustment", sa.Integer(), nullable=False),
        sa.Column("points_a", sa.Integer(), nullable=False),
        sa.Column("points_b", sa.Integer(), nullable=False),
        sa.Column("account_a", sa.Text(), nullable=True),
        sa.Column("account_b", sa.Text(), nullable=True),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.Column("pair", sa.Text(), nullable=True),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_a"], ["accounts.id"], name=op.f("fk_results_account_a")),
        sa.ForeignKeyConstraint(["account_b"], ["accounts.id"], name=op.f("fk_results_account_b")),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_results_match_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_results")),
        sa.UniqueConstraint("match_id", name=op.f("uq_results_match_id")),
    )
    op.create_index(op.f("ix_results_pair"), "results", ["pair", "day"], unique=False)
    op.create_table(
        "seat_grants",
        sa.Column("match_id", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("seat", sa.Text(), nullable=False),
        sa.CheckConstraint("seat IN ('A', 'B')", name=op.f("ck_seat_grants_seat")),
        sa.ForeignKeyConstraint(["account"], ["accounts.id"], name=op.f("fk_seat_grants_account")),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_seat_grants_match_id")),
        sa.PrimaryKeyConstraint("match_id", "account", "seat", name=op.f("pk_seat_grants")),
    )
    op.create_index(op.f("ix_seat_grants_account"), "seat_grants", ["account"], unique=False)
    op.create_table(
        "connections",
        sa.Column("match_id", sa.Text(), nullable=False),
        sa.Column("seat", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.CheckConstraint("seat IN ('A', 'B')", name=op.f("ck_connections_seat")),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_connections_match_id")),
        sa.ForeignKeyConstraint(["node"], ["nodes.id"], name=op.f("fk_connections_node")),
        sa.PrimaryKeyConstraint("match_id", "seat", "node", name=op.f("pk_connections")),
    )
    op.create_index(op.f("ix_connections_node"), "connections", ["node"], unique=False)
    op.create_table(
        "rating_changes",
        sa.Column("match_id", sa.Text(), nullable=False),
        sa.Column("seat", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("competition", sa.Text(), nullable=False),
        sa.Column("season", sa.Text(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("points_before", sa.BigInteger(), nullable=False),
        sa.Column("points_after", sa.BigInteger(), nullable=False),
        sa.Column("r_before", sa.Double(), nullable=False),
        sa.Column("rd_before", sa.Double(), nullable=False),
        sa.Column("vol_before", sa.Double(), nullable=False),
        sa.Column("r_after", sa.Double(), nullable=False),
        sa.Column("rd_after", sa.Double(), nullable=False),
        sa.Column("vol_after", sa.Double(), nullable=False),
        sa.CheckConstraint("seat IN ('A', 'B')", name=op.f("ck_rating_changes_seat")),
        sa.ForeignKeyConstraint(["account"], ["accounts.id"], name=op.f("fk_rating_changes_account")),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_rating_changes_match_id")),
        sa.ForeignKeyConstraint(["number"], ["results.number"], name=op.f("fk_rating_changes_number")),
        sa.PrimaryKeyConstraint("match_id", "seat", name=op.f("pk_rating_changes")),
    )
    op.create_index(op.f("ix_rating_changes_account"), "rating_changes", ["account", "number"], unique=False)


def downgrade() -> None:

    op.drop_index(op.f("ix_rating_changes_account"), table_name="rating_changes")
    op.drop_table("rating_changes")
    op.drop_index(op.f("ix_connections_node"), table_name="connections")
    op.drop_table("connections")
    op.drop_index(op.f("ix_seat_grants_account"), table_name="seat_grants")
    op.drop_table("seat_grants")
    op.drop_index(op.f("ix_results_pair"), table_name="results")
    op.drop_table("results")
    op.drop_table("journal")
    op.drop_table("strengths")
    op.drop_table("points_ratings")
    op.drop_index(op.f("ix_matches_state"), table_name="matches")
    op.drop_index(op.f("ix_matches_seat_b"), table_name="matches")
    op.drop_index(op.f("ix_matches_seat_a"), table_name="matches")
    op.drop_table("matches")
    op.drop_table("idempotency")
    op.drop_table("nodes")
    op.drop_table("key_checks")
    op.drop_table("accounts")
