"""The way of a unit through a translation.

``source``      chunks become frames (by a shape), frames become units (``frames``), units become events
``writing``     events become units again, by the target's codec
``sink``        a unit gets its carry, its losses are noted, and it is laid out (by a shape)
``forms``, ``hot``   the short way for runs of fragments
``translator``  the two halves as one machine without I/O; ``streams`` makes iterators of it
``trace``       which unit came from which
"""
