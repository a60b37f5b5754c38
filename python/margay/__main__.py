"""__main__.py - the command `margay`, as the wheel installs it; also `python -m margay`."""
import os
import sys

from . import _files


def main():
    command = os.fspath(_files.command())
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
