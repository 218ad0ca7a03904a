import { evaluateRules } from '../alerts/evaluate.ts'
import { noteSiteMeasures } from '../alerts/note-measures.ts'
import type { Job } from './runner.ts'

/** Evaluates the rules of alerts and queues their messages. */
export const evaluateAlerts: Job = {
  name: 'evaluate-alerts',
  label: { zh: '评估告警规则', en: 'Evaluate alert rules' },
  on: 'one-node',
  onDemand: true,
  everyMs: () => 60_000,
  deadlineMs: 55_000,
  async run(app, signal) {
    await noteSiteMeasures(app)
    const { firing, failed } = await evaluateRules(app, signal)
    if (failed > 0) throw new Error(`${failed} rules could not be evaluated`)
    return `${firing} firing`
  },
}
