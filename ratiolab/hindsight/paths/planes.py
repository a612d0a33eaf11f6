"""Planes above what multipliers prove, and the best multipliers under them."""

import numpy as np

from ratiolab.hindsight.programs.highs_lp import FloatArray
from ratiolab.model.instance import Instance

MOST_PIVOTS = 3_000
"""Steps of the small quadratic program."""


class Planes:
    """Planes above L: a path gives its latency and, for each request, 1 less its starts."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.slope = np.zeros((0, len(instance)))
        self.height = np.zeros(0)

    def add(self, path: list[tuple[int, int]]) -> bool:
        """Add the plane of a path; return whether it is new."""
        instance = self.instance
        start, request = np.array(path, np.int64).T
        slope = 1.0 - np.bincount(request, minlength=len(instance))
        height = (start + instance.output[request] - instance.arrival[request]).sum()
        if ((self.slope == slope).all(axis=1) & (self.height == height)).any():
            return False
        self.slope = np.vstack([self.slope, slope])
        self.height = np.append(self.height, float(height))
        return True

    def value(self, multipliers: FloatArray) -> float:
        """Return the least of the planes at these multipliers."""
        return float((self.slope @ multipliers + self.height).min(initial=np.inf))

    def keep(self, multipliers: FloatArray, number: int) -> None:
        """Keep so many planes at most, the least at these multipliers."""
        if len(self.height) > number:
            least = np.argsort(self.slope @ multipliers + self.height, kind="stable")[:number]
            self.slope, self.height = self.slope[least], self.height[least]

    def best(self, center: FloatArray, weight: float) -> tuple[FloatArray, float]:
        """Return the best multipliers, penalised by their distance, and their value by planes.

        The dual program chooses a mean of planes; pairs of its parts are improved in turn.
        """
        now, gram = self.slope @ center + self.height, self.slope @ self.slope.T
        part = np.zeros(len(now))
        part[now.argmin()] = 1.0
        for _ in range(MOST_PIVOTS):
            gradient = now + weight * (gram @ part)
            least = int(gradient.argmin())
            most = int(np.where(part > 0, gradient, -np.inf).argmax())
            if gradient[most] - gradient[least] < 1e-4:
                break
            curve = gram[least, least] + gram[most, most] - 2 * gram[least, most]
            step = (gradient[most] - gradient[least]) / (weight * max(curve, 1e-9))
            step = min(float(part[most]), step)
            part[least] += step
            part[most] -= step
        trial = center + weight * (part @ self.slope)
        return trial, self.value(trial)
