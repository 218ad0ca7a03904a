import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

/** The semantic version of this program, from the file `VERSION`. */
export const version = readFileSync(join(root, 'VERSION'), 'utf8').trim()
