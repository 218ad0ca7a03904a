import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Frees all memory of this process that nothing refers to. The flag defines `gc`, which is visible in a new context. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
}
