"""Text as people read and write it: numbers, reasons, files; and values held to a shape."""
