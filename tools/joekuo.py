#!/usr/bin/env python3
"""joekuo.py - writes src/curand/joekuo.bin, the polynomials and first direction numbers of Sobol's sequences.

    joekuo.py new-joe-kuo-6.21201 src/curand/joekuo.bin     from Joe and Kuo's file, which is a line of text a dimension
    joekuo.py scipy src/curand/joekuo.bin                   from the copy that an installed SciPy (1.9 and later) brings

src/curand/joekuo.txt says how the bits stand, and whose numbers they are.
"""
import os
import sys

DIMENSIONS = 20000  # as many as cuRAND has; the first needs no numbers


def from_text(path):
    """(degree, inner coefficients, direction numbers) of each dimension"""
    with open(path, encoding="ascii") as file:
        next(file)
        for line in file:
            _, degree, inner, *numbers = map(int, line.split())
            yield degree, inner, numbers


def from_scipy():
    import numpy
    import scipy.stats
    table = numpy.load(os.path.join(os.path.dirname(scipy.stats.__file__), "_sobol_direction_numbers.npz"))
    for polynomial, numbers in list(zip(table["poly"].tolist(), table["vinit"].tolist()))[1:]:
        degree = polynomial.bit_length() - 1
        yield degree, polynomial >> 1 & (1 << degree - 1) - 1, numbers[:degree]


def main(source, target):
    value = count = 0
    chunks = bytearray()
    table = from_scipy() if source == "scipy" else from_text(source)
    for (degree, inner, numbers), _ in zip(table, range(1, DIMENSIONS)):
        fields = [(inner >> degree - 1 - k & 1, 1) for k in range(1, degree)]
        fields += [(m >> 1, i) for i, m in enumerate(numbers)]
        for field, width in fields:
            value |= field << count
            count += width
        while count >= 8:
            chunks.append(value & 255)
            value >>= 8
            count -= 8
    if count:
        chunks.append(value)
    with open(target, "wb") as file:
        file.write(chunks)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
