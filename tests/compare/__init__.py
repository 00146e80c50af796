"""Streams compared: pairs as files with what is printed of them, and laws over generated streams."""
