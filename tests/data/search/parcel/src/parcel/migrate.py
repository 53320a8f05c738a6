"""Upgrades the database to a new release."""


def migrate(database):
    """Run the migrations of the project's database."""


def backup(database):
    """Make a backup of the database."""
