"""The event algebra: the one vocabulary that every format is read into and written from.

``events``      the eleven events, slotted and compared by value
``grammar``     which event may follow which, as one table
``json_form``   the one JSON form of an event; ``models`` describes it for schemas and the strict check
``parts``       the data of parts: counted, cut, joined and grown; the parts that events add up to
``reading``     what decoders share: members of a unit read with a clear error, words of finish reasons
``failures``    errors as failures, and back

Nothing here knows a format, a carry or a byte.
"""
