"""The adversary: searches for instances on which a policy is far from the optimum."""

from ratiolab.adversary.attack import attack
from ratiolab.adversary.case import Block, Case, Limits
from ratiolab.adversary.evaluate import Candidate
from ratiolab.adversary.result import Attack

__all__ = ["Attack", "Block", "Candidate", "Case", "Limits", "attack"]
