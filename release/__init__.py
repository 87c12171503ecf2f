"""What happens when the course leaves the house: packages, pages, and what the outside changes.

``python -m release.package`` builds attnkit, ``release.installed`` tests what was built,
``release.ready`` says whether a version can go out. The workflows of ``.github`` call
``release.pages``, ``release.drift``, ``release.links`` and ``release.issue``; each runs on any
machine.
"""
