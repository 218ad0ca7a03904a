import type { AlertRuleId } from '../../../contract/entities/alert.ts'
import { measureBudgets } from './budget-rule.ts'
import { callRule, p95Of, successOf } from './call-rules.ts'
import { disabledChannels, disabledKeys, pastDisabled } from './channel-rules.ts'
import { latestMeasures, pastMeasures } from './measures.ts'
import { measureEnds, measureOtherModels, pastEnds, pastOtherModels } from './model-rules.ts'
import { measureDepartures, pastOfDepartures } from './quality-rule.ts'
import type { RuleSource } from './rule-source.ts'
import { measureSpend, pastSpend } from './spend-rule.ts'
import { measureBalances, pastBalances } from './user-balance-rule.ts'

/** Maximum age of values that nodes report every twenty seconds. */
const reportedSeconds = 60
/** Maximum age of values that `evaluate-alerts` itself measures in the same run. */
const runSeconds = 300

/** How each rule of the contract is measured, now and over the past. */
export const ruleSources: Readonly<Record<AlertRuleId, RuleSource>> = {
  'channel-success': callRule('channel', successOf),
  'channel-p95': callRule('channel', p95Of),
  'model-success': callRule('model', successOf),
  'model-p95': callRule('model', p95Of),
  'site-success': callRule('site', successOf),
  'site-p95': callRule('site', p95Of),
  'breaker-open': noted('breaker-open', reportedSeconds),
  'channel-disabled': {
    measure: disabledChannels,
    isWhole: true,
    past: (app, span) => pastDisabled(app, 'channel.auto-disable', span),
  },
  'key-disabled': {
    measure: disabledKeys,
    isWhole: true,
    past: (app, span) => pastDisabled(app, 'channel.key-auto-disable', span),
  },
  'channel-balance': noted('channel-balance', runSeconds),
  'user-balance': { measure: measureBalances, past: pastBalances },
  'budget-share': { measure: measureBudgets, past: (app, span) => pastMeasures(app, 'budget-share', span) },
  'spend-spike': { measure: measureSpend, past: pastSpend },
  'ledger-difference': noted('ledger-difference', 3600),
  'backup-age': noted('backup-age', runSeconds),
  'job-failed': noted('job-failed', runSeconds),
  'disk-space': noted('disk-space', reportedSeconds),
  memory: noted('memory', reportedSeconds),
  queue: noted('queue', reportedSeconds),
  'quality-check': { measure: measureDepartures, past: pastOfDepartures },
  certificate: noted('certificate', 2 * 86_400),
  'model-end': { measure: measureEnds, past: pastEnds },
  'other-model': { measure: measureOtherModels, past: pastOtherModels },
}

/** A rule whose values are recorded by jobs, on each node or on one. */
function noted(rule: AlertRuleId, withinSeconds: number): RuleSource {
  return {
    measure: (app) => latestMeasures(app, rule, withinSeconds),
    past: (app, span) => pastMeasures(app, rule, span),
  }
}
