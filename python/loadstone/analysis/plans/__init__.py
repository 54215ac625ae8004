"""An engine's plan, read operator by operator, and what differs between two plans."""
