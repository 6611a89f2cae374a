"""What gunicorn does when a worker process has loaded Label Studio.

Django resolves its URLs with the first request, which takes seconds. Here each
worker does so before it is called ready, and says that it is with a file of its
pid in the directory RACE_READY: what is measured begins when all have.
"""

import os
import pathlib


def post_worker_init(worker):
    from django.urls import get_resolver

    len(get_resolver().url_patterns)  # imports every view
    pathlib.Path(os.environ["RACE_READY"], str(worker.pid)).touch()
