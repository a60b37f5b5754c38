#!/usr/bin/env python3
"""test_names.py - folders and files named in Chinese and with blanks: every command finds the source lines, and tells the
names as they are. MARGAY NVCC

nvcc writes such names into PTX as octal digits. The reports are read by Python's json; the columns of SARIF are those of UTF-16,
and the caret stands below the text as a terminal shows it, where a Chinese character is two columns wide.
"""
import json
import os
import subprocess
import sys
import tempfile
import unicodedata
import urllib.parse

PROGRAM = """\
#include <cstdio>
#include "头.cuh"
int main(int argc, char **argv)
{
    int *p;
    cudaMalloc(&p, 256);
    cudaMemset(p, 0, 256);
    neighbours<<<1, 64>>>(p);
    printf("%s %s\\n", argv[1], cudaGetErrorString(cudaDeviceSynchronize()));
    if (argc > 2)
        beyond<<<1, 1>>>(p);
    cudaFree(p);
}
"""
HEADER = """\
__global__ void neighbours(int *p)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = p[threadIdx.x];
    /* 读取 é 🐈 */ p[threadIdx.x] = tile[63 - threadIdx.x]; // 没有屏障
}
__global__ void beyond(int *p)
{
    p[64] = 1; // 越界
}
"""
READ, BEYOND = 5, 9
LINE = HEADER.split("\n")[READ - 1]


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def everywhere(value, key):
    """All values of `key` in a report, however deep."""
    if isinstance(value, dict):
        for k, v in value.items():
            if k == key:
                yield v
            yield from everywhere(v, key)
    elif isinstance(value, list):
        for v in value:
            yield from everywhere(v, key)


def main():
    margay, nvcc = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as top:
        top = os.path.realpath(top)
        folder = os.path.join("文件夹", "一 (1) 100%")
        os.makedirs(os.path.join(top, folder))
        source, header, program = (os.path.join(folder, name) for name in ("内核.cu", "头.cuh", "程序"))
        for name, text in (source, PROGRAM), (header, HEADER):
            with open(os.path.join(top, name), "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run([nvcc, "-w", "-lineinfo", "-o", program, source], check=True, cwd=top)

        def take(command, *arguments, status=0):
            args = [margay, command, "--json", "报告.json", *arguments]
            done = subprocess.run(args, cwd=top, capture_output=True, encoding="utf-8")
            assert done.returncode == status, f"{command}: status {done.returncode}\n{done.stderr}"
            assert done.stdout == "参数 no error\n", f"{command}: {done.stdout}"
            with open(os.path.join(top, "报告.json"), encoding="utf-8") as file:
                report = json.load(file)
            files = {name for name in everywhere(report, "file") if name}
            assert files <= {os.path.join(top, header)}, f"{command}: its report names {files}"
            return done.stderr, report, files

        said, _, _ = take("run", program, "参数", "beyond")
        assert f"{header}:{BEYOND}\n" in said and "p[64] = 1; // 越界" in said, said
        said, _, files = take("profile", program, "参数")
        assert f"{header}:{READ}  /* 读取 é 🐈 */ p[" in said and files, said
        said, _, files = take("advise", "--full", program, "参数")
        assert f"{header}:{READ}  /* 读取 é 🐈 */ p[" in said and files, said
        said, report, files = take("check", "--sarif", "结果.sarif", source, "参数", status=1)
        assert f"--> {header}:{READ}\n" in said and len(report["findings"]) == 1 and files, said
        shown, caret = said.split("\n")[2:4]
        assert shown == f"{READ:6} | {LINE.strip()}", said
        assert caret.index("^") == width(shown[: shown.index("tile[63")]), said
        with open(os.path.join(top, "结果.sarif"), encoding="utf-8") as file:
            results = json.load(file)["runs"][0]["results"]
        place = results[0]["locations"][0]["physicalLocation"]
        uri = place["artifactLocation"]["uri"]
        assert uri.isascii() and urllib.parse.unquote(uri) == header, uri
        units = len(LINE[: LINE.index("p[")].encode("utf-16-le")) // 2
        assert place["region"] == {"startLine": READ, "startColumn": units + 1}, place
    return 0


sys.exit(main())
