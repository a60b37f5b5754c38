"""Derives the `sass` lines of merge.cases anew, with the ptxas and cuobjdump of this machine: derive_merge.py FOLDER

Exit status 0: they are as the file says; 1: they are not; 77: no ptxas or no working cuobjdump. Only the version of ptxas
that the file names has to agree: another is told about and skipped, as it may well join differently.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

WIDTH = {"128": 16, "64": 8, "U16": 2, "S16": 2, "U8": 1, "S8": 1}


def cases(text):
    for block in re.split(r"\n\s*\n", text):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if not lines or not lines[0].startswith("case "):
            continue
        keys = {"module": "", "vars": ""}
        body = []
        for line in lines:
            key, _, value = line.partition(" ")
            if key in ("case", "module", "vars", "sass", "model"):
                keys[key] = value
            else:
                body.append(line)
        yield keys, "\n".join(body)


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, "merge.cases")) as file:
        text = file.read()
    with open(os.path.join(folder, "test_merge.c")) as file:
        head = re.search(r"CASE_HEAD\[\] =\n(.*?);\n\n", file.read(), re.S)[1]
    head = "".join(re.findall(r'"(.*)"', head)).replace("\\n", "\n")
    path = os.environ.get("PATH", "") + ":/usr/local/cuda/bin"
    ptxas, cuobjdump = shutil.which("ptxas", path=path), shutil.which("cuobjdump", path=path)
    if not ptxas or not cuobjdump:
        print("no ptxas or no cuobjdump: skipped")
        return 77
    version = re.search(r"V([\d.]+)", subprocess.run([ptxas, "--version"], stdout=subprocess.PIPE, text=True).stdout)[1]
    if version != re.search(r"^# ptxas ([\d.]+)", text, re.M)[1]:
        print(f"ptxas {version} is not the one that merge.cases was derived with: skipped")
        return 77
    wrong = 0
    with tempfile.TemporaryDirectory() as work:
        source, cubin = os.path.join(work, "case.ptx"), os.path.join(work, "case.cubin")
        for keys, body in cases(text):
            with open(source, "w") as file:
                file.write(head % (keys["module"], keys["vars"], body))
            subprocess.run([ptxas, "-arch=sm_90", "-O3", source, "-o", cubin], check=True)
            done = subprocess.run([cuobjdump, "-sass", cubin], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env={**os.environ, "PATH": path})
            if done.returncode:
                print(done.stdout, "skipped")
                return 77
            found = []
            for kind, suffix in re.findall(r"\b(LDS|STS)((?:\.\w+)*) ", done.stdout):
                widths = [WIDTH[s] for s in suffix.split(".") if s in WIDTH]
                found.append(f"{'ld' if kind == 'LDS' else 'st'}{widths[0] if widths else 4}")
            if " ".join(sorted(found)) != keys.get("sass", "").strip():
                print(f"{keys['case']}: {' '.join(sorted(found))}, the file says {keys.get('sass')}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
