/* ways.h - random kernels, with races and without, for test_ways.c. */
#ifndef MARGAY_TESTS_CHECK_WAYS_H
#define MARGAY_TESTS_CHECK_WAYS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { BLOCK = 96, ROW = 16, GRID = 5, LARGE = 19, SHARED = 2048, MOST = BLOCK * LARGE * 64, TEXT = 1 << 17 };

struct text {
    char at[TEXT];
    size_t n;
};

#define PUT(t, ...) ((t)->n += (size_t)snprintf((t)->at + (t)->n, TEXT - (t)->n, __VA_ARGS__))

unsigned ways_draw(unsigned n); /* below n, and the next one of the seed's */
/* The program of a seed, whose numbers go on behind it. True: its blocks have rows of ROW threads. */
bool ways_make(struct text *t, uint64_t seed);
#endif
