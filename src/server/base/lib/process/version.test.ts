import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { version } from './version.ts'

const read = (path: string) => readFileSync(new URL(`../../../../../${path}`, import.meta.url), 'utf8')

it('is the same semantic version in VERSION, package.json, the lock file, the changelog, the chart and the compose files', () => {
  expect(version).toMatch(/^\d+\.\d+\.\d+(-rc\.\d+)?$/)
  const lock = JSON.parse(read('package-lock.json'))
  expect([JSON.parse(read('package.json')).version, lock.version, lock.packages[''].version]).toEqual([version, version, version])
  expect(read('CHANGELOG.md')).toContain(`\n## ${version}\n`)
  for (const file of ['compose.yaml', 'compose.cluster.yaml']) expect(read(file), file).toContain(` image: sluice:${version}\n`)
  expect(read('deploy/helm/Chart.yaml')).toContain(`\nversion: ${version}\nappVersion: ${version}\n`)
})
