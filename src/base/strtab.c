/* strtab.c - a string table: text to pointer, open addressing with linear probing, at most half full.
 *
 * Keys are byte strings (a NUL inside is a byte like any other), copied into the arena. A value of NULL reads as
 * absent, which is all the deletion there is. Old slot arrays stay in the arena when the table doubles: together they
 * are as large as the newest.
 */
#include "base/base.h"

struct mg_strtab_slot {
    const char *key; /* NULL: empty */
    size_t length;
    uint64_t hash;
    void *value;
};

/* Eight bytes a step, multiply and fold; the constants are the fractional digits of sqrt(2) and pi, made odd. It needs
 * to spread identifiers, not to resist an attacker: see the bound on probes that a half-full table keeps. */
uint64_t mg__hash(const void *data, size_t size)
{
    const unsigned char *at = data;
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = UINT64_C(0x243f6a8885a308d3) ^ (size * k);
    while (size >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        h = (h ^ word) * k;
        h ^= h >> 29;
        at += 8;
        size -= 8;
    }
    uint64_t tail = 0;
    if (size)
        memcpy(&tail, at, size);
    h = (h ^ tail) * k;
    h ^= h >> 32;
    h *= UINT64_C(0x6a09e667f3bcc909);
    return h ^ (h >> 29);
}

void mg__strtab_init(struct mg_strtab *table, struct mg_arena *arena)
{
    memset(table, 0, sizeof(*table));
    table->arena = arena;
}

/* The slot that holds the key, or the empty one where it belongs. `capacity` is a power of two, never full. */
static struct mg_strtab_slot *slot_for(const struct mg_strtab *table, const char *key, size_t length, uint64_t hash)
{
    size_t mask = table->capacity - 1;
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        struct mg_strtab_slot *slot = &table->slots[i];
        if (!slot->key ||
            (slot->hash == hash && slot->length == length && (!length || memcmp(slot->key, key, length) == 0)))
            return slot;
    }
}

static bool grow(struct mg_strtab *table)
{
    struct mg_strtab old = *table;
    size_t capacity = old.capacity ? old.capacity * 2 : 16;
    struct mg_strtab_slot *slots = mg__arena_array(table->arena, capacity, sizeof(*slots));
    if (!slots)
        return false;
    table->slots = slots;
    table->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].key)
            *slot_for(table, old.slots[i].key, old.slots[i].length, old.slots[i].hash) = old.slots[i];
    }
    return true;
}

bool mg__strtab_put(struct mg_strtab *table, const char *key, size_t length, void *value)
{
    if (table->count >= table->capacity / 2 && !grow(table))
        return false;
    uint64_t hash = mg__hash(key, length);
    struct mg_strtab_slot *slot = slot_for(table, key, length, hash);
    if (!slot->key) {
        const char *copy = mg__arena_strndup(table->arena, key, length);
        if (!copy)
            return false;
        slot->key = copy;
        slot->length = length;
        slot->hash = hash;
        table->count++;
    }
    slot->value = value;
    return true;
}

void *mg__strtab_get(const struct mg_strtab *table, const char *key, size_t length)
{
    if (!table->capacity)
        return NULL;
    return slot_for(table, key, length, mg__hash(key, length))->value;
}
