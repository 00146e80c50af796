"""The carry: what a native unit does not say, as one JSON object beside it. ``docs/carry.md`` is its specification.

``making``    the carry of a unit: the difference between what it says and what it stands for
``reading``   the way back, and what a carry may not do
``patches``   how a unit differs from the one that its codec would write
``losses``    what a carry makes good, classed for reports
"""
