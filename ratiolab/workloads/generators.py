"""Synthetic workloads, seeded: the models of the papers and plain ones beside them.

>>> generate("two-point", seed=7, n=5, upper=4).output.tolist()
[4, 4, 4, 1, 1]
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ratiolab.model import Instance, shown, stream
from ratiolab.model.names import unknown
from ratiolab.workloads import paper_models, plain_models, trace_shapes
from ratiolab.workloads.kinds import Kind, kind_of
from ratiolab.workloads.paper_models import lmsys_kind, mixed_kind
from ratiolab.workloads.plain_models import law_kind
from ratiolab.workloads.predictions import add_predictions

JAILLET = "Jaillet et al. (2025), Section 5.1, arXiv 2502.07115v5"
CHEN = "Chen, Ye, Zhou (2025), {}, arXiv 2508.14544v2"


def generate(kind: str, seed: int, predict: str | None = None, **settings: int | float) -> Instance:
    """Generate an instance of a kind; the same arguments give an equal instance.

    Its source is the command line that generates it, with all settings.

    Parameters
    ----------
    kind : a key of `KINDS`.
    seed : seed of all draws, at least 0; predictions draw from a stream of their own.
    predict : predictions to make from the true outputs, in the words of
        `ratiolab.workloads.predictions.add_predictions`; None for the predictions of the kind.
    settings : settings that the kind lists, by name; other settings keep their defaults.

    Raises
    ------
    ValueError
        names the kind, setting, value and rule that does not hold.
    """
    chosen = find_kind(kind)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed {shown(seed)} must be an integer, at least 0")
    complete = chosen.complete(settings)
    built = chosen.build(stream(seed, "instance"), **complete)
    assignments = "".join(f" --set {name}={value!r}" for name, value in complete.items())
    source = f"ratiolab generate {kind} --seed {seed}{assignments}"
    built = built.replace(name=f"{kind}-{seed}", source=source)
    if predict is None:
        return built
    return add_predictions(built, predict, seed).replace(source=f"{source} --predict {predict}")


def find_kind(name: str) -> Kind:
    """Return the kind of this name, or raise `ValueError` with the nearest names."""
    if name not in KINDS:
        raise ValueError(unknown("kind", name, KINDS, "`ratiolab generate`"))
    return KINDS[name]


_OWN = "ratiolab"
_LMSYS = "moments as in Chen, Ye, Zhou (2025), Section 6, and Jaillet et al. (2025), Section 5.2"

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        chosen.name: chosen
        for chosen in (
            kind_of("jaillet-model-1", JAILLET, paper_models.jaillet_model_1),
            kind_of("jaillet-model-2", JAILLET, paper_models.jaillet_model_2),
            lmsys_kind("chen-rough", CHEN.format("Section 6"), paper_models.chen_rough),
            lmsys_kind("chen-buckets", CHEN.format("Section 6"), paper_models.chen_buckets),
            lmsys_kind("chen-overlap", CHEN.format("Section 6"), paper_models.chen_overlap),
            law_kind("two-point", CHEN.format("Section 5.1"), plain_models.two_point),
            law_kind("geometric", CHEN.format("Section 5.2"), plain_models.geometric),
            law_kind("linear-geometric", CHEN.format("Section 5.3"), plain_models.linear_geometric),
            law_kind(
                "power-law",
                "the hardest distribution of ratiolab/papers/ours/proofs/volume_restart.md",
                plain_models.power_law,
            ),
            lmsys_kind("lmsys", _LMSYS, paper_models.lmsys),
            mixed_kind("lmsys-mixed", _LMSYS, paper_models.lmsys_mixed),
            kind_of("lmsys-repeated", _LMSYS, paper_models.lmsys_repeated),
            law_kind("equal", _OWN, plain_models.equal),
            law_kind("uniform", _OWN, plain_models.uniform),
            law_kind(
                "heavy-tail",
                "log-t lengths as in arXiv 2604.00499",
                plain_models.heavy_tail,
                memory=1000,
                prompt=10,
            ),
            kind_of("log-t-laws", "the model of arXiv 2604.00499", plain_models.log_t_laws),
            *trace_shapes.KINDS,
        )
    }
)
"""Every kind of workload by name."""
