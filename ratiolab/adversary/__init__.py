"""The adversary: searches for instances on which a policy is far from the optimum."""

from ratiolab.adversary.attack import Attack, attack
from ratiolab.adversary.case import Block, Case, Limits
from ratiolab.adversary.evaluate import Candidate

__all__ = ["Attack", "Block", "Candidate", "Case", "Limits", "attack"]
