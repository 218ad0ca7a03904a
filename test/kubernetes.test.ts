import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { envSchema } from '../src/server/base/env.ts'
import { newFolder } from './helpers/templates.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const chart = join(root, 'deploy/helm')
const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0
const canRender = has('helm', 'version')
const canValidate = canRender && has('kubernetes-validate', '--version')
if (!canValidate)
  process.stderr.write('\n  !! helm or kubernetes-validate is missing: the chart is not rendered and validated (SKIPPED)\n\n')

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  // biome-ignore lint/suspicious/noExplicitAny: every kind has its own
  readonly spec: any
  readonly stringData?: Readonly<Record<string, string>>
}

const masterKey = `${'A'.repeat(43)}=`
const needed = ['--set', `secret.masterKey=${masterKey},secret.rootPassword=long-enough`]
const postgres = [...needed, '--set', 'secret.databaseUrl=postgres://u:p@db/sluice']

/** The version is named, because a helm that somebody built knows no better than an old one. */
const template = ['template', '--kube-version', '1.30.0']

const render = (...args: string[]) =>
  execFileSync('helm', [...template, 'gate', chart, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

function manifests(...args: string[]): Manifest[] {
  return parseAllDocuments(render(...args)).map((document) => document.toJS() as Manifest)
}

function find(kind: string, ...args: string[]): Manifest {
  const found = manifests(...args).find((manifest) => manifest.kind === kind)
  if (!found) throw new Error(`no ${kind} is rendered`)
  return found
}

const everything = [
  ...postgres,
  '--set',
  'ingress.enabled=true,ingress.host=a.example,autoscaling.enabled=true,prometheusRule.enabled=true,serviceMonitor.enabled=true,serviceMonitor.token.secretName=t,env.WORKERS=2',
]

describe.runIf(canRender)('the chart', () => {
  it('has no complaint of helm', () => {
    expect(has('helm', 'lint', '--strict', '--kube-version', '1.30.0', chart, ...postgres)).toBe(true)
  })

  it('runs one node on a volume that stays, unless it is given PostgreSQL', () => {
    const { spec } = find('Deployment', ...needed)
    expect([spec.replicas, spec.strategy.type]).toEqual([1, 'Recreate'])
    expect(spec.template.spec.volumes[0]).toHaveProperty('persistentVolumeClaim')
    expect(manifests(...needed).map(({ kind }) => kind)).toEqual(['Secret', 'PersistentVolumeClaim', 'Service', 'Deployment'])
  })

  it('migrates before each of several nodes starts, and replaces them one after the other', () => {
    const { spec } = find('Deployment', ...postgres)
    expect([spec.replicas, spec.strategy.rollingUpdate]).toEqual([2, { maxUnavailable: 0, maxSurge: 1 }])
    expect(spec.template.spec.initContainers).toMatchObject([{ command: ['sluice', 'migrate'] }])
    expect(manifests(...postgres).map(({ kind }) => kind)).toContain('PodDisruptionBudget')
  })

  it('gives a stop the time that the server takes', () => {
    const { spec } = find('Deployment', ...postgres, '--set', 'drain.delay=7,drain.limit=100,drain.resumable=20')
    expect(spec.template.spec.terminationGracePeriodSeconds).toBe(142)
    expect(spec.template.spec.containers[0].env).toEqual([
      { name: 'DRAIN_DELAY', value: '7' },
      { name: 'DRAIN_LIMIT', value: '100' },
      { name: 'DRAIN_RESUMABLE', value: '20' },
    ])
  })

  it('runs without root, capabilities and a writable file system', () => {
    const { spec } = find('Deployment', ...postgres)
    const { securityContext, containers, initContainers } = spec.template.spec
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
    for (const container of [...containers, ...initContainers])
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
  })

  it.each([
    [[], 'secret.masterKey is missing'],
    [['--set', 'secret.masterKey=short,secret.rootPassword=long-enough'], 'masterKey'],
    [[...needed, '--set', 'autoscaling.enabled=true'], 'autoscaling needs PostgreSQL'],
    [[...needed, '--set', 'ingress.enabled=true'], 'host'],
    [[...needed, '--set', 'secret.databaseUrl=mysql://h/db'], 'databaseUrl'],
    [[...needed, '--set', 'replicas=3'], 'replicas'],
  ])('refuses %o', (args, told) => {
    const { status, stderr } = spawnSync('helm', [...template, 'gate', chart, ...args], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringContaining(told)])
  })

  it('names settings that the server knows', () => {
    const { stringData = {} } = find(
      'Secret',
      ...postgres,
      '--set',
      'secret.databaseDirectUrl=postgres://h/d,secret.redisUrl=redis://h',
    )
    expect(Object.keys(stringData)).toHaveLength(5)
    for (const name of [...Object.keys(stringData), 'DRAIN_DELAY', 'DRAIN_LIMIT']) expect(envSchema.shape).toHaveProperty(name)
  })

  it('has the alerts that are shipped for Prometheus', () => {
    const rules = parse(readFileSync(join(root, 'deploy/prometheus/rules.yml'), 'utf8'))
    expect(find('PrometheusRule', ...everything).spec).toEqual(rules)
  })

  it('takes the values that kubernetes.md has', () => {
    const [, values = ''] = /```yaml\n([^`]*)```/.exec(readFileSync(join(root, 'docs/operations/kubernetes.md'), 'utf8')) ?? []
    const file = join(newFolder(), 'values.yaml')
    writeFileSync(file, values)
    expect(find('Ingress', '--values', file).spec.rules[0].host).toBe('sluice.example.com')
    const { spec } = find('Deployment', '--values', file)
    expect(spec.template.spec.containers[0]).toMatchObject({
      image: 'registry.example.com/sluice:1',
      envFrom: expect.arrayContaining([{ secretRef: { name: 'sluice' } }]),
    })
  })

  it('is what deploy/kubernetes/sluice.yaml is made of', () => {
    const file = join(root, 'deploy/kubernetes/sluice.yaml')
    const made = execFileSync('helm', [...template, 'sluice', chart, '--values', join(root, 'deploy/kubernetes/values.yaml')], {
      encoding: 'utf8',
    })
    const documents = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest)
    expect(documents(readFileSync(file, 'utf8'))).toEqual(documents(made))
  })
})

it.runIf(canValidate).each([
  ['SQLite', needed],
  ['PostgreSQL', postgres],
  ['everything', everything],
])('with %s the manifests have the shapes of Kubernetes', (_name, args) => {
  const file = join(newFolder(), 'manifests.yaml')
  // The kinds of Prometheus' operator are not Kubernetes'.
  const known = parseAllDocuments(render(...args)).filter((document) => !/^monitoring/.test(String(document.get('apiVersion'))))
  writeFileSync(file, known.map(String).join(''))
  const { stdout, stderr, status } = spawnSync('kubernetes-validate', ['--strict', file], { encoding: 'utf8' })
  expect([status, stdout + stderr]).toEqual([0, expect.any(String)])
})
