"""Linear classifiers from pairs: one file a family, one base for what they share."""

from pairlearn.models.linear.bilinear import OVPCClassifier, SLLCClassifier
from pairlearn.models.linear.cips import CIPSClassifier
from pairlearn.models.linear.links import LinkClassifier
from pairlearn.models.linear.mcl import MCLClassifier
from pairlearn.models.linear.sd import SDClassifier

__all__ = [
    "CIPSClassifier",
    "LinkClassifier",
    "MCLClassifier",
    "OVPCClassifier",
    "SDClassifier",
    "SLLCClassifier",
]
