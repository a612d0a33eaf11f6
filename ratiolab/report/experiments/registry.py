"""Every experiment by its name; a new one is a module here and a word below."""

from ratiolab.report.experiments.chen2025 import CHEN2025
from ratiolab.report.experiments.experiment import Experiment
from ratiolab.report.experiments.gogineni2024 import GOGINENI2024
from ratiolab.report.experiments.gogineni2024_slices import GOGINENI2024_SLICES
from ratiolab.report.experiments.jaillet2025_section_5_2 import SECTION_5_2
from ratiolab.report.experiments.jaillet2025_section_5_2_growth import SECTION_5_2_GROWTH
from ratiolab.report.experiments.jaillet2025_section_5_2_noise import SECTION_5_2_NOISE
from ratiolab.report.experiments.jaillet2025_section_5_2_parameters import SECTION_5_2_PARAMETERS
from ratiolab.report.experiments.jaillet2025_section_5_2_rounds import SECTION_5_2_ROUNDS
from ratiolab.report.experiments.jaillet2025_section_5_2_time import SECTION_5_2_TIME
from ratiolab.report.experiments.real_traces import REAL_TRACES
from ratiolab.report.experiments.section_5_1 import SECTION_5_1
from ratiolab.report.experiments.section_5_1_readings import SECTION_5_1_READINGS
from ratiolab.report.experiments.shahout2025 import SHAHOUT2025
from ratiolab.report.experiments.shahout2025_rounds import SHAHOUT2025_ROUNDS
from ratiolab.report.experiments.zheng2026 import ZHENG2026
from ratiolab.report.experiments.zheng2026_memory import ZHENG2026_MEMORY

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        CHEN2025,
        SECTION_5_1,
        SECTION_5_1_READINGS,
        GOGINENI2024,
        GOGINENI2024_SLICES,
        SECTION_5_2,
        SECTION_5_2_GROWTH,
        SECTION_5_2_TIME,
        SECTION_5_2_NOISE,
        SECTION_5_2_PARAMETERS,
        SECTION_5_2_ROUNDS,
        ZHENG2026,
        ZHENG2026_MEMORY,
        SHAHOUT2025,
        SHAHOUT2025_ROUNDS,
        REAL_TRACES,
    )
}
"""What ``ratiolab reproduce`` knows."""
