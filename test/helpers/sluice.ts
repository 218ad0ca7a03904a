import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const sluiceProgram = fileURLToPath(new URL('../../dist/server/sluice.js', import.meta.url))

export interface Ran {
  readonly code: number
  readonly output: string
  readonly errors: string
}

const outputMaxBytes = 16 << 20

/** Runs the built command line as a separate process. */
export function sluice(args: readonly string[], env: Record<string, string>, input = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [sluiceProgram, ...args],
      { env: { PATH: process.env.PATH, ...env }, maxBuffer: outputMaxBytes },
      (error, output, errors) => resolve({ code: error ? Number(error.code) : 0, output, errors }),
    )
    child.stdin?.end(input)
  })
}
