"""_files.py - where the package's own files are: beside it in a wheel, in build/ in a source tree, or where MARGAY_BUILD says."""
import os
import pathlib

_HERE = pathlib.Path(__file__).resolve().parent


def native():
    """The folder of the command, with the libraries in lib/."""
    told = os.environ.get("MARGAY_BUILD")
    for folder in [pathlib.Path(told)] if told else [_HERE / "native", _HERE.parents[1] / "build"]:
        if (folder / "margay").exists() and (folder / "lib").is_dir():
            return folder
    raise FileNotFoundError(f"{folder} has no simulator in it: install the wheel, or run `make` in the source tree")


def command():
    """The command `margay`."""
    return native() / "margay"


def library():
    """libmargay, for programs that embed the simulator (margay.h)."""
    return native() / "libmargay.so.0"


def runtimes():
    """The CUDA libraries of the simulator, those that others need first."""
    folder = native() / "lib"
    return sorted([*folder.glob("lib*.so.*"), folder / "libcuda.so"], key=lambda path: (not path.name.startswith("libmargay"), path.name))
