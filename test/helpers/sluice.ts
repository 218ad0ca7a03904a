import { execFile, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { vi } from 'vitest'

export const sluiceProgram = fileURLToPath(new URL('../../dist/server/sluice.js', import.meta.url))

interface Ran {
  readonly code: number
  readonly output: string
  readonly errors: string
}

const outputMaxBytes = 16 << 20
/** A folder without a file of settings. */
const cwd = tmpdir()

/** Runs the built command line as a separate process. */
export function sluice(args: readonly string[], env: Record<string, string>, input = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [sluiceProgram, ...args],
      { cwd, env: { PATH: process.env.PATH, ...env }, maxBuffer: outputMaxBytes },
      (error, output, errors) => resolve({ code: error ? Number(error.code) : 0, output, errors }),
    )
    child.stdin?.end(input)
  })
}

/** Starts the built command line as a separate process, which can be watched and killed. */
export function startSluice(args: readonly string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [sluiceProgram, ...args], { cwd, env: { PATH: process.env.PATH, ...env } })
  const ran = { output: '', errors: '' }
  child.stdout.on('data', (chunk) => {
    ran.output += chunk
  })
  child.stderr.on('data', (chunk) => {
    ran.errors += chunk
  })
  const ended = new Promise<Ran>((resolve) => child.once('close', (code) => resolve({ code: code ?? -1, ...ran })))
  return { pid: child.pid ?? 0, ended, kill: (signal: NodeJS.Signals) => child.kill(signal) }
}

/**
 * Runs one command in the process of the test, which saves the start of another one. For tests of its effect on the database; one
 * run of `sluice` tests it as a program. Rejects with the error of the command.
 */
export async function runCommand(command: Command, args: readonly string[], env: Record<string, string>) {
  const { exitCode } = process
  const written = { stdout: '', stderr: '' }
  const streams = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += text
      return true
    }),
  )
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  try {
    await command.parseAsync(args, { from: 'user' })
    return { code: process.exitCode, output: written.stdout }
  } finally {
    vi.unstubAllEnvs()
    for (const stream of streams) stream.mockRestore()
    process.exitCode = exitCode
  }
}
