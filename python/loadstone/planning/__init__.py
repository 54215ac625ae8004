"""From what a user chose to a plan: measures, tables, declared tactics."""
