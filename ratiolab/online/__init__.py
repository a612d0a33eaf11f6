"""Policies, what they may know, and the simulator that runs them."""

from ratiolab.online.policy import Policy, Setting, Ties
from ratiolab.online.registry import POLICIES, make
from ratiolab.online.simulate import PolicyError, simulate
from ratiolab.online.simulation import Simulation
from ratiolab.online.view import NEVER, Decision, Information, InformationError, View

__all__ = [
    "NEVER",
    "POLICIES",
    "Decision",
    "Information",
    "InformationError",
    "Policy",
    "PolicyError",
    "Setting",
    "Simulation",
    "Ties",
    "View",
    "make",
    "simulate",
]
