"""What choices were called in earlier releases: refused, and the message says the name of now."""

CHOICES = {"panel": "preset", "floor": "overhead", "awake": "disable_idle_states"}


def option_now(option: str) -> str:
    """The name of an option that was renamed; empty where it was not."""
    prefix = "--no-" if option.startswith("--no-") else "--"
    name = CHOICES.get(option.removeprefix(prefix).replace("-", "_"), "")
    return f"{prefix}{name.replace('_', '-')}" if name else ""
