"""Two records side by side: like cells only, on equal terms. See docs/reference/method.md."""
