import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

/** The version that the console shows, from the file `VERSION`. */
export const version = readFileSync(join(root, 'VERSION'), 'utf8').trim()
