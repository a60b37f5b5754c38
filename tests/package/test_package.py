#!/usr/bin/env python3
"""test_package.py - what Margay is handed out as works where it is unpacked.

    deb      the Debian package of tools/deb.sh: its control file, its contents, and the command run out of it
    docker   the image of the Dockerfile profiles a kernel; skipped where no container tool works
    action   the steps of action.yml, as a workflow runs them: annotations and exit status

    test_package.py deb|docker|action BUILD_FOLDER NVCC
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
# 1024x1024 elements: 32768 warps' reads of a column of 32 take 32 wavefronts each.
WORST = re.compile(r"transpose\.cu:60 .*\n +1,048,576 +32,768 +32\.0×")


def run(*command, env=None, cwd=None, status=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})})
    assert done.returncode == status, f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def deb(build, nvcc, work):
    if not shutil.which("dpkg-shlibdeps"):
        print("skipped: there is no dpkg-shlibdeps (dpkg-dev)")
        return SKIPPED
    for target in ("libmargay.so", "lib/libcudart.so.12", "lib/libcudart.so.13"):
        assert (build / target).exists(), f"{target} is not built"
    package = work / "margay.deb"
    run(TREE / "tools/deb.sh", build, package)
    info = run("dpkg", "--info", package)
    fields = dict(re.findall(r"^ (\S+): (.*)$", info, re.M))
    assert fields["Package"] == "margay" and fields["Architecture"] == run("dpkg", "--print-architecture").strip(), info
    assert fields["Version"] == run(build / "margay", "--version").split()[1], info
    for library in ("libc6", "libjansson4", "libzstd1", "liblz4-1"):
        assert re.search(rf"\b{library}\b", fields["Depends"]), info
    assert "llvm" not in fields["Depends"].lower(), info  # without it kernels are interpreted
    assert int(fields["Installed-Size"]) > 500, info
    files = re.findall(r"^(\S+) (\S+) .* \./(\S*)$", run("dpkg", "-c", package), re.M)
    names = {name for _, _, name in files}
    for name in ("usr/bin/margay", "usr/lib/margay/libcudart.so.12", "usr/lib/margay/libcudart.so.13",
                 "usr/share/man/man1/margay.1.gz", "usr/share/doc/margay/copyright", "usr/share/doc/margay/changelog.gz",
                 "usr/share/doc/margay/tutorial.md", "usr/share/margay/SKILL.md", "usr/include/margay/margay.h"):
        assert name in names, f"{name} is not in the package: {sorted(names)}"
    assert all(owner == "root/root" for _, owner, _ in files), files
    assert all(name == "" or name.startswith("usr") for name in names), names
    root = work / "root"
    run("dpkg-deb", "-x", package, root)
    env = {"NVCC": str(nvcc), "MARGAY_LIBDIR": "", "PATH": os.environ["PATH"]}
    text = run(root / "usr/bin/margay", "profile", "--launches", "3", TREE / "examples/transpose.cu", env=env)
    assert WORST.search(text), text
    said = run(root / "usr/bin/margay", "run", "--verbose", "--launches", "1", TREE / "examples/transpose.cu", env=env)
    assert f"{root}/usr/lib/margay/libcudart.so" in said, said  # its own, not the build folder's
    sums = run("dpkg", "--ctrl-tarfile", package) and run("dpkg-deb", "--info", package, "md5sums")
    assert len(sums.splitlines()) == sum(1 for mode, _, _ in files if mode.startswith("-")), sums
    return 0


def docker(build, nvcc, work):
    tool = next((tool for tool in ("docker", "podman") if shutil.which(tool) and
                 subprocess.run([tool, "info"], capture_output=True).returncode == 0), None)
    if not tool:
        print("skipped: no container tool works here (docker info, podman info)")
        return SKIPPED
    run(tool, "build", "-t", "margay-test", TREE)
    try:
        text = run(tool, "run", "--rm", "-v", f"{TREE}/examples:/work:ro", "-e", "LC_ALL=C.UTF-8", "margay-test", "profile",
                   "--launches", "3", "transpose.cu")
        assert WORST.search(text), text
    finally:
        run(tool, "rmi", "-f", "margay-test")
    return 0


def steps():
    """The action's `run` lines and its inputs' defaults: of YAML what that file uses of it."""
    text = (TREE / "action.yml").read_text(encoding="utf-8")
    inputs = text[text.index("inputs:"):text.index("runs:")]
    defaults = dict(re.findall(r"^  ([a-z-]+):\n(?:    .*\n)*?    default: \"?([^\"\n]*)\"?$", inputs, re.M))
    names = re.findall(r"^  ([a-z-]+):$", inputs, re.M)
    env = dict(re.findall(r"^        (\w+): \$\{\{ inputs\.([a-z-]+) \}\}$", text, re.M))
    assert set(env.values()) == set(names), (env, names)
    assert "using: composite" in text and text.count("shell: bash") == text.count(" run: ")
    return re.findall(r"^      run: (.*)$", text, re.M), defaults, env


def action(build, nvcc, work):
    lines, defaults, names = steps()
    try:
        import yaml
        parsed = yaml.safe_load((TREE / "action.yml").read_text(encoding="utf-8"))
        assert [step["run"] for step in parsed["runs"]["steps"]] == lines
        assert {key: value["default"] for key, value in parsed["inputs"].items() if "default" in value} == defaults
    except ImportError:
        pass  # then the file is only read as above

    def workflow(status, **given):
        inputs = {**defaults, **{key.replace("_", "-"): value for key, value in given.items()}}
        env = {"GITHUB_ACTION_PATH": str(TREE), "NVCC": str(nvcc), "PATH": f"{build}:{os.environ['PATH']}",
               **{name: inputs[which] for name, which in names.items()}}
        text = ""
        for number, line in enumerate(lines):
            text += run("bash", "-e", "-o", "pipefail", "-c", line, env=env, cwd=TREE, status=status if number else 0)
        return text

    text = workflow(1, program="examples/missing_barrier.cu")
    assert re.search(r"^::error file=examples/missing_barrier\.cu,line=20,col=\d+,title=race/", text, re.M), text
    text = workflow(1, program="examples/transpose.cu 64 64", expect="conflicts<=1.1")
    assert re.search(r"^::error file=examples/transpose\.cu,line=60,title=budget/conflicts::transpose_shared", text, re.M), text
    text = workflow(0, program="examples/transpose.cu 64 64", expect="conflicts<=17")
    assert "::" not in text.replace("std::", ""), text
    text = workflow(0, program="examples/missing_barrier.cu", check="false")
    assert text == "", text
    text = workflow(0, program="examples/missing_barrier.cu", fail_on="never", nvcc_args="-DUNUSED=1 -O2")
    assert "::error" in text, text
    return 0


def main():
    what, build, nvcc = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="margay-package-") as work:
        return {"deb": deb, "docker": docker, "action": action}[what](build, nvcc, pathlib.Path(work))


if __name__ == "__main__":
    sys.exit(main())
