#!/usr/bin/env python3
"""alone.py - examples/embed.py as the README has it, without an argument: in a built tree it finds the library by itself, and
where there is none it says what to do. EMBED_PY LIBMARGAY
"""
import os
import shutil
import subprocess
import sys
import tempfile

embed, library = sys.argv[1:]
env = {k: v for k, v in os.environ.items() if k not in ("MARGAY_LIBRARY", "LD_LIBRARY_PATH")}
with tempfile.TemporaryDirectory() as top:
    os.makedirs(os.path.join(top, "examples"))
    os.makedirs(os.path.join(top, "build"))
    script = shutil.copy(embed, os.path.join(top, "examples"))
    run = lambda: subprocess.run([sys.executable, script], cwd=top, env=env, capture_output=True, text=True)
    none = run()
    assert none.returncode in (0, 1), none # 0: one is installed on this machine
    assert none.returncode == 0 or "Build it with `make`" in none.stderr, none.stderr
    os.symlink(os.path.abspath(library), os.path.join(top, "build", "libmargay.so.0"))
    found = run()
    assert found.returncode == 0 and "add: ok" in found.stdout, found
