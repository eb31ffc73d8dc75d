"""The command line: one module per command. Slow imports are inside the commands."""
