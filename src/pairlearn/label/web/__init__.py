"""The server of the page: who may ask, what is a proper request, and what it gets.

Nothing about choosing or learning is here; that is the desk's, to which requests are
handed once they have been checked.
"""
