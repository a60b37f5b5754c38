/* Our half of test_abi: the two headers define the same names and cannot meet in one file. */
#include "cuda/abi.h"
#include "cudart/graph.h"

#define SIZE(a, b) sizeof(a),
#define FIELD(a, f, b, g) offsetof(a, f),
#define VALUE(a, b) (size_t)(a),
const size_t abi_ours[] = {
#include "cuda/abi.def"
};
#undef SIZE
#undef FIELD
#undef VALUE

/* Every code of errors.def, in its order. */
const size_t abi_our_errors[] = {
#define CUDA_ERROR(value, name, text) value,
#include "cuda/errors.def"
};
