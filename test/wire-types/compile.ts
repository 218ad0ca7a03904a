import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
const settings = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: {
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: ['node'],
    noEmit: true,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: false,
    exactOptionalPropertyTypes: true,
  },
  include: ['*.ts'],
}
let count = 0

/** A value in JSON that has to fit a type of `wire-types.ts`. */
export interface Typed {
  readonly type: string
  readonly json: string
}

/**
 * The compiler's errors for values as literals of their types, each with its value; empty when all fit. A literal may not have members
 * that its type does not have.
 */
export async function faultsOf(files: Readonly<Record<string, readonly Typed[]>>): Promise<string[]> {
  // Inside of the repository, so that the packages are found; hidden, so that `npm pack`, which may run meanwhile, skips it.
  const folder = join(root, 'dist/.wire-types', `${process.pid}-${++count}`)
  mkdirSync(folder, { recursive: true })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  const names = (typed: readonly Typed[]) => [...new Set(typed.flatMap(({ type }) => type.match(/\w+/g) ?? []))].join(', ')
  for (const [name, typed] of Object.entries(files)) {
    const head = `import type { ${names(typed)} } from '../../../test/wire-types/wire-types.ts'`
    const lines = typed.map(({ type, json }, at) => `export const value${at}: ${type} = ${json}`)
    writeFileSync(join(folder, `${name}.ts`), [head, ...lines].join('\n'))
  }

  const said = await new Promise<string>((resolve) => {
    const options = { maxBuffer: 2 ** 26 }
    execFile(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], options, (_, out) => resolve(out))
  })
  return said.split('\n').flatMap((line) => {
    if (line.trim() === '' || line.startsWith(' ')) return []
    const [, name = '', at = ''] = /([^/]+)\.ts\((\d+),\d+\): /.exec(line) ?? []
    const value = files[name]?.[Number(at) - 2]
    return [value ? `${name} ${line.replace(/^.*?: /, '')}\n  ${value.type} ${value.json.slice(0, 500)}` : line]
  })
}
