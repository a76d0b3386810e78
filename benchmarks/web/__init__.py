"""Times the package for browsers beside other engines, in one page of one Chromium."""
