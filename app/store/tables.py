"""The whole schema on one page. Times are Unix milliseconds, durations end in `_ms`, seats are `A` and `B`.

`migrations/` brings a database here; a change of this page needs a new revision there.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)

# ------------------------------------------------------------------------------------------------------ who plays

accounts = Table(
    "accounts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("folded", Text, nullable=False),  # the name as it is compared (store.accounts.folded)
    Column(
        "tag", Text, nullable=False
    ),  # tells accounts of the same name apart; empty: the first of the name
    Column("kind", Text, nullable=False),
    Column("version", Text, nullable=False),  # a computer's; empty for people
    Column("created_at", BigInteger, nullable=False),
    Column("maker", Text, ForeignKey("accounts.id")),  # on whose list of entrants it was made; none: on none
    Column(
        "links", Integer, nullable=False, server_default="0"
    ),  # of its personal links, those that are void
    UniqueConstraint("folded", "version", "tag"),
    CheckConstraint("kind IN ('guest', 'computer', 'bot')", name="kind"),
)

bots = Table(  # programs of others that play here by a token
    "bots",
    metadata,
    Column("account", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("owner", Text, ForeignKey("accounts.id"), index=True),  # none: made on the command line
    Column("token", LargeBinary, unique=True),  # SHA-256 of it; none: the bot cannot come in
    Column("token_at", BigInteger),
    Column("retired_at", BigInteger),  # deleted by its owner; its matches stay
)

points_ratings = Table(  # the points rating: settled points, added (§10.1)
    "points_ratings",
    metadata,
    Column("account", Text, ForeignKey("accounts.id"), nullable=False),
    Column("competition", Text, nullable=False),  # `open`: casual rated matches
    Column("season", Text, nullable=False),  # of `open`: the year (UTC)
    Column("points", BigInteger, nullable=False),
    PrimaryKeyConstraint("account", "competition", "season"),
)

strengths = Table(  # Glicko-2 (§10.2), unrounded
    "strengths",
    metadata,
    Column("account", Text, ForeignKey("accounts.id"), nullable=False),
    Column("variant", Text, nullable=False),
    Column("r", Double, nullable=False),
    Column("rd", Double, nullable=False),
    Column("vol", Double, nullable=False),
    PrimaryKeyConstraint("account", "variant"),
)

# ------------------------------------------------------------------------------------------------------ matches

matches = Table(
    "matches",
    metadata,
    Column("id", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("version", Integer, nullable=False),  # of the newest journal row; 0: none yet
    Column(
        "deadline", BigInteger
    ),  # when time will have something to do; while it waits: when it is given up
    Column(
        "computer_since", BigInteger
    ),  # since when a computer has something to play; none: no computer has
    Column("preset", Text, nullable=False),
    Column("ruleset", Text, nullable=False),  # JSON, every key
    Column("public", Boolean, nullable=False),
    Column("code", Text, unique=True),  # of the invitation
    Column("maker", Text, ForeignKey("accounts.id"), nullable=False),
    Column("seat_a", Text, ForeignKey("accounts.id")),
    Column("seat_b", Text, ForeignKey("accounts.id")),
    Column("computers", Text, nullable=False),  # the seats that computers have: ``, `A`, `B` or `AB`
    Column("server_seed", LargeBinary, nullable=False),  # encrypted (§9.4)
    Column("dice_id", Text, nullable=False),
    Column("commitment", Text, nullable=False),  # C of §9.1
    Column("created_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("finished_at", BigInteger),
    Column("cancelled", Text),  # why: `maker` took it back, or it has `expired`
    Column("rematch_of", Text, ForeignKey("matches.id")),
    Column("rematch_asked", Text, nullable=False),  # the seats that want one: ``, `A`, `B` or `AB`
    Column("rematch_id", Text),
    Column("competition", Text, ForeignKey("competitions.id")),  # none: a casual match
    Column("reported", Boolean),  # of a competition's: its end is known there
    Column("secret", Boolean, nullable=False, server_default=false()),  # a board of an open round (§12.1)
    CheckConstraint("state IN ('waiting', 'playing', 'over', 'cancelled')", name="state"),
    Index(None, "reported", "competition"),
    CheckConstraint("cancelled IN ('maker', 'expired')", name="cancelled"),
    Index(None, "state", "created_at"),
    Index(None, "seat_a", "created_at"),
    Index(None, "seat_b", "created_at"),
    # Every play changes version, deadline and computer_since, which are in no index: the new row fits beside the old
    # one. An index of deadlines would halve the plays a second; without it, looking through 5 000 running matches takes
    # 3 ms.
    postgresql_with={"fillfactor": 60},
)

seat_grants = Table(  # who else may play a seat: the same person's other device
    "seat_grants",
    metadata,
    Column("match_id", Text, ForeignKey("matches.id"), nullable=False),
    Column("account", Text, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("seat", Text, nullable=False),
    PrimaryKeyConstraint("match_id", "account", "seat"),
    CheckConstraint("seat IN ('A', 'B')", name="seat"),
)

journal = Table(  # one row is one accepted command with all its events; append-only
    "journal",
    metadata,
    Column("match_id", Text, ForeignKey("matches.id"), nullable=False),
    Column("version", Integer, nullable=False),  # of the match after it: 1, 2, 3 …
    Column("command_id", Text),  # chosen by the browser; none: the server's own doing
    Column("at", BigInteger, nullable=False),
    Column("format", Integer, nullable=False),  # how `events` is written: `codec`
    Column("events", Text, nullable=False),  # JSON
    PrimaryKeyConstraint("match_id", "version"),
    UniqueConstraint("match_id", "command_id"),
    sqlite_with_rowid=False,
)

results = Table(  # one row for each match that is over
    "results",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),  # the order in which ratings moved
    Column("match_id", Text, ForeignKey("matches.id"), nullable=False, unique=True),
    Column("at", BigInteger, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("by_seat", Text),  # who conceded
    Column("x_outcome", Text, nullable=False),  # W, K, T, C, - (§4.3)
    Column("x_class", Text),  # of the lost game (§2.4)
    Column("x_winner", Text),
    Column("x_points_for_a", Integer, nullable=False),
    Column("x_white_pips", Integer, nullable=False),
    Column("x_black_pips", Integer, nullable=False),
    Column("x_white_checkers", Integer, nullable=False),  # not borne off
    Column("x_black_checkers", Integer, nullable=False),
    Column("y_outcome", Text, nullable=False),
    Column("y_class", Text),
    Column("y_winner", Text),
    Column("y_points_for_a", Integer, nullable=False),
    Column("y_white_pips", Integer, nullable=False),
    Column("y_black_pips", Integer, nullable=False),
    Column("y_white_checkers", Integer, nullable=False),
    Column("y_black_checkers", Integer, nullable=False),
    Column("credit_for_a", Integer, nullable=False),
    Column("net_for_a", Integer, nullable=False),
    Column("winner", Text),
    Column("charged_a_ms", BigInteger, nullable=False),
    Column("charged_b_ms", BigInteger, nullable=False),
    Column("time_adjustment", Integer, nullable=False),
    Column("points_a", Integer, nullable=False),  # settled
    Column("points_b", Integer, nullable=False),
    Column("account_a", Text, ForeignKey("accounts.id")),
    Column("account_b", Text, ForeignKey("accounts.id")),
    Column("rated", Boolean, nullable=False),  # played for ratings, by two different people
    Column("counted", Boolean, nullable=False),  # and moved them: not one too many of this pair on this day
    Column("pair", Text),  # both accounts, whoever sat where
    Column("day", Integer, nullable=False),  # UTC, since 1970-01-01
    Index(None, "pair", "day"),
    Index(None, "account_a"),
    Index(None, "account_b"),
)

rating_changes = Table(  # what a counted match did to both ratings of each player
    "rating_changes",
    metadata,
    Column("match_id", Text, ForeignKey("matches.id"), nullable=False),
    Column("seat", Text, nullable=False),
    Column("number", Integer, ForeignKey("results.number"), nullable=False),
    Column("account", Text, ForeignKey("accounts.id"), nullable=False),
    Column("competition", Text, nullable=False),
    Column("season", Text, nullable=False),
    Column("variant", Text, nullable=False),
    Column("points_before", BigInteger, nullable=False),
    Column("points_after", BigInteger, nullable=False),
    Column("r_before", Double, nullable=False),
    Column("rd_before", Double, nullable=False),
    Column("vol_before", Double, nullable=False),
    Column("r_after", Double, nullable=False),
    Column("rd_after", Double, nullable=False),
    Column("vol_after", Double, nullable=False),
    PrimaryKeyConstraint("match_id", "seat"),
    CheckConstraint("seat IN ('A', 'B')", name="seat"),
    Index(None, "account", "number"),
)

# ---------------------------------------------------------------------------------------------------- competitions

competitions = Table(
    "competitions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, ForeignKey("accounts.id"), nullable=False),
    Column("title_ru", Text, nullable=False),
    Column("title_en", Text, nullable=False),
    Column("about_ru", Text, nullable=False),
    Column("about_en", Text, nullable=False),
    Column("visibility", Text, nullable=False),
    Column("settings", Text, nullable=False),  # JSON, every key; as they were when it was made
    Column("lot_seed", LargeBinary, nullable=False),  # encrypted
    Column("created_at", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),  # of the newest row of facts; 0: none yet
    # What follows is computed from the facts, for lists and for what has to be done.
    Column("state", Text, nullable=False),
    Column("due_at", BigInteger),  # when time will have something to do
    Column("watched", Boolean, nullable=False),  # it runs, or results of analyses are missing
    Column("starts_at", BigInteger),
    Column("entrants", Integer, nullable=False),
    Column(
        "computer", Text, ForeignKey("accounts.id")
    ),  # whom all play in its qualifying, once one has begun
    Column("claim", Text),  # the server that looks after it
    Column("claimed_until", BigInteger),
    CheckConstraint("state IN ('announced', 'entry', 'running', 'finished', 'cancelled')", name="state"),
    CheckConstraint("visibility IN ('public', 'unlisted')", name="visibility"),
    Index(None, "visibility", "state", "created_at"),
    Index(None, "owner", "created_at"),
    Index(None, "watched"),
    Index(None, "due_at"),
)

competition_facts = Table(  # one row is one accepted command with all its facts; append-only
    "competition_facts",
    metadata,
    Column("competition", Text, ForeignKey("competitions.id"), nullable=False),
    Column("version", Integer, nullable=False),  # of the competition after it: 1, 2, 3 …
    Column("command_id", Text),  # chosen by the caller; none: the server's own doing
    Column("actor", Text),  # who wished it: an account; none: the server
    Column("at", BigInteger, nullable=False),
    Column("format", Integer, nullable=False),  # how `facts` is written: `facts_codec`
    Column("facts", Text, nullable=False),  # JSON
    PrimaryKeyConstraint("competition", "version"),
    UniqueConstraint("competition", "command_id"),
    sqlite_with_rowid=False,
)

competition_entries = Table(  # who is, or was, an entrant: for the list of one's own
    "competition_entries",
    metadata,
    Column("account", Text, ForeignKey("accounts.id"), nullable=False),
    Column("competition", Text, ForeignKey("competitions.id"), nullable=False, index=True),
    PrimaryKeyConstraint("account", "competition"),
)

competition_boards = Table(  # the dice that all entrants of a qualifying share (§12.1)
    "competition_boards",
    metadata,
    Column("dice_id", Text, primary_key=True),
    Column("competition", Text, ForeignKey("competitions.id"), nullable=False, index=True),
    Column("server_seed", LargeBinary, nullable=False),  # encrypted
    Column("commitment", Text, nullable=False),  # C of §9.1
    Column("made_at", BigInteger, nullable=False),
    Column("seeds", Text),  # JSON: match -> the seed that its entrant showed; none: not all are in
    Column("shared_seed", Text),
    Column("disclosed_at", BigInteger),  # the round is closed, and the dice may be known
)

competition_notes = Table(  # what arbiters have written down
    "competition_notes",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("competition", Text, ForeignKey("competitions.id"), nullable=False, index=True),
    Column("match_id", Text, ForeignKey("matches.id")),
    Column("by", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("text", Text, nullable=False),
)

admin_keys = Table(  # programs that organise; of a key only its hash is stored
    "admin_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("hash", LargeBinary, nullable=False, unique=True),
    Column("owner", Text, ForeignKey("accounts.id"), nullable=False),  # whose competitions it is for
    Column("holder", Text, ForeignKey("accounts.id"), nullable=False),  # in whose name it acts
    Column("competition", Text, ForeignKey("competitions.id")),  # none: all of the owner's
    Column("role", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("call", Text, nullable=False),  # what was asked for when it was made
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("revoked_at", BigInteger),
    Column("last_used_at", BigInteger),
    CheckConstraint("role IN ('owner', 'arbiter', 'observer')", name="role"),
    Index(None, "owner", "created_at"),
)

# What organisers did that is in no competition's facts and no match's journal; append-only.
organisers_log = Table(
    "organisers_log",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("owner", Text, ForeignKey("accounts.id"), nullable=False),
    Column("competition", Text, ForeignKey("competitions.id"), index=True),  # none: all of the owner's
    Column("at", BigInteger, nullable=False),
    Column("actor", Text),  # an account; none: the server's command line
    Column("key", Text),  # the key by which it came, if by one
    Column("what", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("before", Text),  # JSON
    Column("after", Text),
    Column("reason", Text),
    Index(None, "owner", "number"),
)

# ------------------------------------------------------------------------------------------------------- analyses

analyses = Table(  # one row for each finished match that is to be analysed, or is (§6.4)
    "analyses",
    metadata,
    Column("match_id", Text, ForeignKey("matches.id"), primary_key=True),
    Column("state", Text, nullable=False),
    Column("wanted_at", BigInteger, nullable=False),  # the newest comes first
    Column("claim", Text),  # of whoever works at it; every claim has a name of its own
    Column("claimed_until", BigInteger),  # then it is anybody's again
    Column("tries", Integer, nullable=False),  # claims since a phase was last judged
    Column("failure", Text),  # the code of the last try that failed
    Column("level", Text),
    Column("judges", Text),  # names and versions: what others judged counts for nothing here
    Column("phases", Integer),  # how many there are
    Column("ended_at", BigInteger),
    Column("objective_for_a", Double),  # E − L; none before it is done
    Column("found", Text),  # all of it as JSON
    CheckConstraint("state IN ('waiting', 'running', 'done', 'failed')", name="state"),
    Index(None, "state", "wanted_at"),
)

judged_phases = Table(  # the phases of an analysis that is not done yet
    "judged_phases",
    metadata,
    Column("match_id", Text, ForeignKey("analyses.match_id"), nullable=False),
    Column("number", Integer, nullable=False),  # 0, 1, 2 …
    Column("judged", Text, nullable=False),  # JSON
    PrimaryKeyConstraint("match_id", "number"),
    sqlite_with_rowid=False,
)

# ---------------------------------------------------------------------------------------------------- the servers

idempotency = Table(  # creating calls that were made already, so that one sent twice makes one thing
    "idempotency",
    metadata,
    Column("account", Text, ForeignKey("accounts.id"), nullable=False),
    Column("key", Text, nullable=False),  # chosen by the caller
    Column("call", Text, nullable=False),  # what was asked for
    Column("answer", Text, nullable=False),  # the id of what was made
    Column("at", BigInteger, nullable=False),
    PrimaryKeyConstraint("account", "key"),
)

nodes = Table(  # the servers on this database
    "nodes",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),  # the key of the lock that it holds
    Column("id", Text, nullable=False, unique=True),
    Column("state", Text, nullable=False),  # `taking-up`: it gives back the time in which no server was there
    Column("heartbeat", BigInteger),  # when it was last alive; none: it has not served yet
    Column("computers", Text),  # JSON: name and version of each computer player that it has
    CheckConstraint("state IN ('joining', 'taking-up', 'serving', 'left')", name="state"),
)

connections = Table(  # which seats have a display open, and on which server
    "connections",
    metadata,
    Column("match_id", Text, ForeignKey("matches.id"), nullable=False),
    Column("seat", Text, nullable=False),
    Column("node", Text, ForeignKey("nodes.id"), nullable=False, index=True),
    PrimaryKeyConstraint("match_id", "seat", "node"),
    CheckConstraint("seat IN ('A', 'B')", name="seat"),
)

key_checks = Table(  # one row: a known word under the secret key, so that a wrong key is noticed at the start
    "key_checks",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("sealed", LargeBinary, nullable=False),
)
