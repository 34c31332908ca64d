"""Linear classifiers from pairs: one file a family, one base for what they share."""

from pairlearn.linear.bilinear import OVPCClassifier, SLLCClassifier
from pairlearn.linear.cips import CIPSClassifier
from pairlearn.linear.links import LinkClassifier
from pairlearn.linear.mcl import MCLClassifier
from pairlearn.linear.sd import SDClassifier

__all__ = [
    "CIPSClassifier",
    "LinkClassifier",
    "MCLClassifier",
    "OVPCClassifier",
    "SDClassifier",
    "SLLCClassifier",
]
