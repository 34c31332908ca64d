"""Which pair to ask about next, and when to stop.

:class:`Interview` chooses questions, learns while answers come in, and says at any
moment how good the model is.
"""

from pairlearn.ask.history import Advice, LearningCurve, Version
from pairlearn.ask.interview import Interview
from pairlearn.ask.question import Question

__all__ = ["Advice", "Interview", "LearningCurve", "Question", "Version"]
