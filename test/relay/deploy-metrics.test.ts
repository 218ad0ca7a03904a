import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { mergedMetrics } from '../../src/server/base/lib/process/metrics.ts'
import { CallNotes } from '../../src/server/usage/calls/ended-calls.ts'
import { serverOfTest } from '../helpers/app.ts'
import { endedCall } from '../helpers/ended-call.ts'
import { complaintsOf, hasPromtool } from '../helpers/promtool.ts'
import { addChannel } from '../helpers/seed.ts'
import { newFolder } from '../helpers/templates.ts'

const deploy = new URL('../../deploy/', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, deploy), 'utf8')

interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
}
interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

const rules = (parse(read('prometheus/rules.yml')).groups as { rules: Rule[] }[]).flatMap((group) => group.rules)
const dashboard = JSON.parse(read('grafana/sluice.json'))
const panels = dashboard.panels as Panel[]
const variables = (dashboard.templating.list as { query: { query?: string } }[]).flatMap(({ query }) => query.query ?? [])

const expressions = [
  ...rules.map(({ record, alert, expr }) => ({ of: record ?? alert ?? '', expr })),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ of: title, expr }))),
]

/** Names of metrics in an expression, each with the labels in the braces after it. */
function selectorsIn(expr: string) {
  return Array.from(expr.matchAll(/\b((?:sluice|nodejs|process)[a-z0-9_:]*)(\{[^}]*\})?/g), ([, name = '', matchers = '']) => ({
    name,
    labels: Array.from(matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g), ([, label = '']) => label),
  }))
}

/** What /metrics prints after calls of all kinds, on a server of one process and on one of several. */
async function printed(): Promise<{ readonly one: string; readonly several: string }> {
  const server = await serverOfTest('sqlite', { env: { ACCESS_LOG: '/dev/null' } })
  const channelId = await addChannel(server, { url: 'http://127.0.0.1:9', models: 'm' })
  const { app } = server
  const channel = { id: channelId, keyId: 1, name: 'one', type: 1 }
  const attempt = { channel, choice: 'only', model: 'm', upstreamModel: 'm', status: 500, reason: 'broke', isFault: true, startedMs: 0, ms: 1, firstByteMs: 1 } // biome-ignore format: one line
  const failure = { code: 'upstream_failed', message: { zh: 'x', en: 'x' }, inStream: false }
  const { callObservers, metrics } = app
  callObservers.attemptEnded(attempt, { ...endedCall(), notes: new CallNotes() })
  callObservers.callEnded(endedCall({ attempts: [attempt], firstByteMs: 1 }))
  callObservers.callEnded(endedCall({ attempts: [attempt], status: 502, failure }))
  metrics.jobRuns.inc({ job: 'x', outcome: 'ok' })
  const measured = await metrics.registry.getMetricsAsJSON()
  return { one: await (await fetch(`${server.url}/metrics`)).text(), several: await mergedMetrics([measured, measured]) }
}

/** The labels of every series, by its name. */
function labelsIn(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const labels = new Map<string, Set<string>>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, name = '', inBraces = ''] = /^([a-zA-Z0-9_:]+)(?:\{(.*)\})? /.exec(line) ?? []
    const known = labels.get(name) ?? new Set()
    for (const [, label = ''] of inBraces.matchAll(/(\w+)="/g)) known.add(label)
    labels.set(name, known)
  }
  return labels
}

it('the dashboard and the rules in deploy/ use metrics and labels that /metrics prints', async () => {
  const series = labelsIn((await printed()).one)
  const recorded = new Set(rules.flatMap(({ record }) => record ?? []))
  for (const { of, expr } of expressions) {
    const selectors = selectorsIn(expr)
    expect(selectors, of).not.toEqual([])
    // Prometheus adds `instance` and `job`; labels to group by must be labels of some metric in the expression.
    const known = new Set(['instance', 'job'])
    for (const { name, labels } of selectors) {
      if (recorded.has(name)) {
        for (const label of ['model', 'channel']) known.add(label)
        continue
      }
      const ofSeries = series.get(name)
      expect(ofSeries, `${of}: ${name}`).toBeDefined()
      for (const label of ofSeries ?? []) known.add(label)
      for (const label of labels) expect([...(ofSeries ?? []), 'instance', 'job'], `${of}: ${name}{${label}}`).toContain(label)
    }
    for (const [, list = ''] of expr.matchAll(/\b(?:by|on|group_left) \(([^)]*)\)/g))
      for (const label of list.split(',')) expect([...known], `${of}: by (${label})`).toContain(label.trim())
  }
  for (const query of variables) {
    const [, name = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? []
    expect([...(series.get(name) ?? []), 'instance'], query).toContain(label)
  }
})

it.runIf(hasPromtool)(
  'promtool has no complaint about /metrics, of one process and of several, nor about the rules',
  async () => {
    for (const text of Object.values(await printed())) {
      expect(text).toContain('sluice_calls_total')
      expect(complaintsOf(['check', 'metrics'], text)).toBe('')
    }
    expect(complaintsOf(['check', 'rules', '--lint-fatal', fileURLToPath(new URL('prometheus/rules.yml', deploy))])).toBe('')
  },
)

it.runIf(hasPromtool)('promtool sees the alert of descriptors fire for the node of a process that has almost none left', () => {
  const rules = fileURLToPath(new URL('prometheus/rules.yml', deploy))
  const series = (node: string, value: string) => ({
    series: `sluice_descriptors_used_ratio{instance="${node}"}`,
    values: `${value}x20`,
  })
  const alert = {
    exp_labels: { severity: 'critical', instance: 'full' },
    exp_annotations: { summary: '97% of the file descriptors of a process of full are open: raise LimitNOFILE' },
  }
  const file = join(newFolder(), 'test.json')
  writeFileSync(
    file,
    JSON.stringify({
      rule_files: [rules],
      tests: [
        {
          interval: '1m',
          input_series: [series('full', '0.97'), series('free', '0.5')],
          alert_rule_test: [
            { eval_time: '4m', alertname: 'SluiceFewDescriptors', exp_alerts: [] },
            { eval_time: '6m', alertname: 'SluiceFewDescriptors', exp_alerts: [alert] },
          ],
        },
      ],
    }),
  )
  expect(complaintsOf(['test', 'rules', file])).toBe('')
})

it('each alert names its subject and severity, and every panel has an expression', () => {
  for (const rule of rules.filter(({ alert }) => alert !== undefined))
    expect(rule).toMatchObject({ labels: { severity: expect.stringMatching(/^(warning|critical)$/) }, annotations: { summary: expect.any(String) } }) // biome-ignore format: one line
  const drawn = panels.filter((panel) => (panel as { type?: string }).type !== 'row')
  expect(drawn.length).toBeGreaterThan(15)
  for (const { title, targets = [] } of drawn) expect(targets.length, title).toBeGreaterThan(0)
})
