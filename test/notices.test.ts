import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { handedOnPackages } from '../scripts/lib/notices.mjs'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

describe('licences distributed with a build', () => {
  it('include the project’s licence and those of the packages of the server and of the console’s bundle', () => {
    expect(read('dist/LICENSE')).toBe(read('LICENSE'))
    const notices = read('dist/THIRD-PARTY-NOTICES.txt')
    const { dependencies } = JSON.parse(read('package.json'))
    for (const name of [...Object.keys(dependencies), 'react', 'react-dom', '@mantine/core'])
      expect(notices, name).toMatch(new RegExp(`^${name.replaceAll('/', '\\/')} \\d`, 'm'))
    expect(notices).toContain('Copyright (c) Meta Platforms, Inc. and affiliates.')
    expect(notices).not.toMatch(/^(typescript|vite|vitest|playwright-core|openai) \d/m)
  })

  it('are in the image', () => {
    const [, image = ''] = read('Dockerfile')
      .split(/^FROM .*\n/m)
      .slice(1)
    expect(image).toMatch(/^COPY --from=build .*\/app\/LICENSE/m)
    expect(image).toMatch(/^COPY --from=build \/app\/dist /m)
    expect(read('.dockerignore')).not.toMatch(/LICENSE/)
  })

  it('include dependencies in nested folders, and leave out tools and optional peers', () => {
    const packages = {
      '': { dependencies: { a: '1' }, devDependencies: { b: '1', tool: '1' } },
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b': {
        version: '1.0.0',
        dev: true,
        dependencies: { c: '1' },
        peerDependencies: { d: '1', tool: '1' },
        peerDependenciesMeta: { tool: { optional: true } },
      },
      'node_modules/b/node_modules/c': { version: '2.0.0', dev: true, dependencies: { d: '1' } },
      'node_modules/c': { version: '1.0.0', dev: true },
      'node_modules/d': { version: '1.0.0', dev: true },
      'node_modules/tool': { version: '1.0.0', dev: true },
    }
    expect(handedOnPackages(packages, ['b'])).toEqual([
      'node_modules/a',
      'node_modules/b',
      'node_modules/b/node_modules/c',
      'node_modules/d',
    ])
  })
})
