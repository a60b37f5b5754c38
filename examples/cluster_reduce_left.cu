/* cluster_reduce_left.cu - cluster_reduce.cu with the mistake that people make: blocks end while another one still reads
 * their shared memory.
 *
 * Look:   margay check examples/cluster_reduce_left.cu
 */
#define LEFT 1
#include "cluster_reduce.cu"
