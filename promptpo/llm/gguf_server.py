"""Serve one GGUF model over HTTP until standard input ends; run this as a script.

    python -P gguf_server.py MODEL.gguf CONTEXT PARALLEL

It prints its address on one line when it is ready. The server (llama.cpp's own, in xllamacpp) listens on 127.0.0.1 at a
free port, with the OpenAI and Anthropic formats. Since it stops when its standard input ends, it never outlives the
process that started it.
"""

from __future__ import annotations

import os
import sys


def serve(model: str, context: int, parallel: int) -> None:
    """Serve until standard input ends.

    Args:
        model: Path of the weights.
        context: Maximum tokens of one request, prompt and answer together.
        parallel: Requests computed concurrently; further ones wait.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = context * parallel
    params.n_parallel = parallel
    params.kv_unified = False
    params.ui = False
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdecimal() and int(threads) > 0:
        # Threads synchronise by spinning, which is extremely slow if other processes use the cores as well.
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    params.verbosity = -1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # no one reads later output
    sys.stdin.read()
    # The server cannot stop while requests are running; the process can.
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
