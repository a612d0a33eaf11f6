"""The simulator Vidur for `bench_vidur.py`, in an environment of its own.

Reads a JSON object: requests as rows of arrival in seconds, prompt and output, the tokens of the
memory, and the four coefficients of a batch time in seconds. Writes one: the seconds of the
processor that the run took, and when the last request completed. The package of Vidur holds no
measurements of batches; hence the batch time takes the place of one of its predictors.
"""

import json
import logging
import sys
import tempfile
from time import process_time
from types import SimpleNamespace
from typing import Any

from vidur import simulator
from vidur.config import (
    CacheConfig,
    ClusterConfig,
    LinearRegressionExecutionTimePredictorConfig,
    MetricsConfig,
    ReplicaConfig,
    RoundRobinGlobalSchedulerConfig,
    SimulationConfig,
    TraceRequestGeneratorConfig,
    VllmSchedulerConfig,
)
from vidur.entities import Request
from vidur.execution_time_predictor import (
    BaseExecutionTimePredictor,
    ExecutionTimePredictorRegistry,
)
from vidur.types import ExecutionTimePredictorType

NO_LIMIT = 10**9


def linear(fixed: float, prefill: float, decode: float, kv: float) -> type:
    """Return a predictor of this batch time: all of it in one of the parts that Vidur adds up."""

    def part(self: Any, batch: Any) -> float:
        starting = sum(tokens for tokens in batch.num_q_tokens if tokens > 1)
        decoding = sum(tokens for tokens in batch.num_q_tokens if tokens == 1)
        read = sum(batch.num_kv_tokens) - starting - decoding
        seconds = fixed + prefill * starting + decode * decoding + kv * read
        return 1000 * seconds / self._num_layers_per_pipeline_stage

    parts: dict[str, Any] = dict.fromkeys(
        BaseExecutionTimePredictor.__abstractmethods__, lambda self, batch: 0.0
    )
    parts["_get_attention_rope_execution_time"] = part
    return type("Linear", (BaseExecutionTimePredictor,), parts)


def main() -> None:
    """Run the requests on one replica, and write what was measured."""
    logging.disable()
    given = json.load(sys.stdin)
    kind = ExecutionTimePredictorType.LINEAR_REGRESSION
    ExecutionTimePredictorRegistry._registry[kind] = linear(*given["batch"])
    requests = [
        Request(arrived_at=arrival, num_prefill_tokens=prompt, num_decode_tokens=output)
        for arrival, prompt, output in given["requests"]
    ]
    source = SimpleNamespace(generate=lambda: requests)
    simulator.RequestGeneratorRegistry = SimpleNamespace(get=lambda *_: source)
    config = SimulationConfig(
        cluster_config=ClusterConfig(
            num_replicas=1,
            replica_config=ReplicaConfig(num_pipeline_stages=1, tensor_parallel_size=1),
            cache_config=CacheConfig(
                block_size=1, num_blocks=given["memory"], watermark_blocks_fraction=0.0
            ),
            global_scheduler_config=RoundRobinGlobalSchedulerConfig(),
            replica_scheduler_config=VllmSchedulerConfig(
                batch_size_cap=NO_LIMIT, max_tokens_in_batch=NO_LIMIT
            ),
        ),
        request_generator_config=TraceRequestGeneratorConfig(),
        execution_time_predictor_config=LinearRegressionExecutionTimePredictorConfig(
            use_native_execution_time_predictor=False
        ),
        metrics_config=MetricsConfig(
            write_metrics=False, enable_chrome_trace=False, output_dir=tempfile.mkdtemp()
        ),
    )
    run = simulator.Simulator(config)
    run._write_output = lambda: None
    began = process_time()
    run.run()
    print(json.dumps({"seconds": process_time() - began, "end": run._time}))


main()
