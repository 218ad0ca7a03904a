/**
 * Size of an LRU cache that takes its memory as it fills, up to so many entries. The option `max` alone allocates the slots of all
 * entries when the cache is made: some 25 ms and 7 MB at every start for the large caches of a node together.
 */
export const upTo = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 }) as const
