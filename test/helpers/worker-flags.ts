/**
 * Node options of the processes that run tests. Tests create and discard many servers: with more memory for objects, garbage
 * collection takes half of the time. There are more processes than cores, so that helper threads of V8 would only slow them down.
 * `--single-threaded` alone lets the young generation of a thread pass the limit that `holdYoungGeneration` sets; with an initial
 * size of the old generation it does not, and neither does Node without both.
 */
export const workerFlags: readonly string[] = ['--single-threaded', '--max-semi-space-size=64', '--initial-old-space-size=1024']
