"""Two sides of records beside each other: like cells only, on equal terms. See docs/method.md."""
