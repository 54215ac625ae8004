"""From a record to values: everything a report prints, computed, and nothing drawn."""
