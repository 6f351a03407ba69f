"""x"""

PAGES = ()
