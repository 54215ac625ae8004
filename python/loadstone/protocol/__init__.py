"""Shared by the parent process and its workers: a pipe for messages, a board for deadlines."""
