"""Version 2: questions are given out by the database, to several processes at once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision, down_revision = "2", "1"


def upgrade() -> None:
    """Add what leases need to be shared; the clerk adds those that are free."""
    op.add_column("leases", sa.Column("taken", sa.Float()))
    true = sa.true() if op.get_bind().dialect.name != "sqlite" else sa.text("1")
    op.add_column(
        "leases",
        sa.Column("is_open", sa.Boolean(), nullable=False, server_default=true),
    )
    op.execute("UPDATE leases SET taken = until")
    op.create_index("leases_of_page", "leases", ["who", "page"])
    op.create_index("leases_until", "leases", ["until", "question"])
    op.create_table(
        "wishes",
        sa.Column("who", sa.Text(), primary_key=True),
        sa.Column("wished", sa.Float(), nullable=False),
        sa.Column("in_vain", sa.Float(), nullable=False, server_default="0"),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute("PRAGMA user_version = 2")
