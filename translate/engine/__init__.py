"""The way of a unit through a translation, in the order in which it goes.

``source``      chunks become frames (by a shape), these units and carries (``frames``), and these events
``carried``     what a carry says of its unit, where the stream may go on so
``residues``    what a unit has beyond the one that its codec expects
``writing``     events become units again, by the target's codec
``sink``        a unit gets its carry, its losses are noted, and it is laid out (by a shape)
``runs``, ``templates``  fragments that differ in their text alone are read and written together
``translator``  both halves as one machine without I/O; ``streams`` makes iterators of it; ``options`` are looked at
``checker``     the strict check of a stream; ``trace``: which unit came from which
"""
