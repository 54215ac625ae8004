"""lode: the page server of a variant's own."""
