"""Serves one GGUF model over HTTP until standard input ends; run as a script, not imported.

    python -P gguf_server.py MODEL.gguf CONTEXT PARALLEL

Prints the address, one line, when it is ready. The server (llama.cpp's own, inside xllamacpp) binds to
127.0.0.1 on a free port and speaks the OpenAI and Anthropic formats. Because it ends with its standard
input, it ends with the process that started it, however that one ends.
"""

from __future__ import annotations

import os
import sys


def serve(model: str, context: int, parallel: int) -> None:
    """Serve until standard input ends.

    Args:
        model: Path of the weights.
        context: Tokens that one request may have, prompt and answer together.
        parallel: Requests that are computed at once; further ones wait.
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
        # Threads that wait for each other by spinning are slow beyond measure where others use the cores too.
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    params.verbosity = -1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads what comes after
    sys.stdin.read()
    # The server has no way to stop while requests are running; the process has.
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
