"""The page on which people answer: what is kept, who is asked what, and the page."""
