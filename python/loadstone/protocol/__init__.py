"""What the parent process and its workers share: a pipe for messages, a board for deadlines."""
