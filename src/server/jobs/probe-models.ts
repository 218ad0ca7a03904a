import { probeModels as probe } from '../status-page/probes.ts'
import type { Job } from './runner.ts'

/** Probes models without traffic, for the status page. The site bears the cost. */
export const probeModels: Job = {
  name: 'probe-models',
  label: { zh: '探测模型', en: 'Probe models' },
  on: 'one-node',
  onDemand: true,
  everyMs: ({ StatusProbeMinutes }) => StatusProbeMinutes * 60_000,
  deadlineMs: 1_800_000,
  run: (app, signal, tell) => probe(app, signal, tell),
}
