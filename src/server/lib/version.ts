import { readFileSync } from 'node:fs'

/** The version that the console shows, from the file `VERSION` beside the sources and beside the built server alike. */
export const version = readFileSync(new URL('../../../VERSION', import.meta.url), 'utf8').trim()
