"""The book as PDF, printed by Chromium from the built pages: ``python -m bookext.pdf``.

A page is printed as a reader would print it. The whole book is one document, composed of all
articles (`compose`), so that links lead on inside of it and the structure tree is one; it is
printed twice, because only a printed book knows on which page a chapter begins (`whole`).
Why so: docs/decisions/0027.
"""
