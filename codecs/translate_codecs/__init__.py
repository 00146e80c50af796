"""The codecs that come with translate-streams: one module a format."""
