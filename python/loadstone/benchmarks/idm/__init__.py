"""The Britton Lee IDM tests of 1983 to 1986."""
