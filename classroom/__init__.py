"""For instructors: make an assignment of chapters, grade what comes back, see what a class thinks.

``python -m classroom --help``. Students run code of their own; where and how far it is held in is
written in :mod:`classroom.protection`.
"""
