/* registers latency: what a result takes to be an operand.
 *
 * There is nothing to chase in registers: they have no addresses. A chain of multiply-adds stands for it, index = index
 * * factor + x[0], each of which waits for the one before. It is what the other chases hold beside their loads, and the
 * floor of every dependent computation: code that wants to be faster needs several chains. */
#include "hierarchy/chase.cuh"

enum mg_kernels_status mg__hierarchy_registers_latency(const struct mg__hierarchy *call)
{
    return mg__chase<CHASE_REGISTERS>(call);
}
