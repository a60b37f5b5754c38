#!/bin/sh
# run.sh PYTHON LIBMARGAY FOLDER - operations.py with tinygrad and numpy of these versions, installed into FOLDER once.
python=$1 library=$2 folder=$3
versions="tinygrad==0.14.0 numpy==2.2.6"
command -v clang >/dev/null || { echo "tinygrad's CPU device needs clang: skipped"; exit 77; }
if [ ! -e "$folder/ready" ]; then
    # shellcheck disable=SC2086
    "$python" -m venv "$folder" && "$folder/bin/pip" install -q --disable-pip-version-check $versions &&
        touch "$folder/ready" || { echo "PyPI cannot be had: skipped"; exit 77; }
fi
exec "$folder/bin/python" "$(dirname "$0")/operations.py" "$library"
