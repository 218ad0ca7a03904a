import { seconds } from '../../base/lib/time/clock.ts'
import { followBatches } from '../../gateway/batches/follow.ts'
import { notifyDisabledChannels } from '../../gateway/channels/health/notify-disabled.ts'
import { notifyImplausibleUsage } from '../../gateway/channels/health/notify-implausible-usage.ts'
import { expireMissingEndpoints } from '../../gateway/channels/row/missing-endpoints.ts'
import { removeFiles } from '../../gateway/files/remove.ts'
import { purgeBudgetSums } from '../../gateway/limits/budget-use.ts'
import { settlePendingResponses } from '../../gateway/relay/stored-responses/settle-pending.ts'
import { pollTasks } from '../../gateway/tasks/poll.ts'
import { purgeTasks } from '../../gateway/tasks/purge.ts'
import { warnLowQuota } from '../../people/accounts/low-quota.ts'
import { queueFailedCalls } from '../../people/notify/queue-failed-calls.ts'
import { sendDeliveries } from '../../people/notify/send-deliveries.ts'
import { removeOldCallSums } from '../../usage/calls/call-sums.ts'
import { runPurges } from '../../usage/log/purge.ts'
import { rollUpHours } from '../../usage/sums/roll-up.ts'
import { evaluateRules } from '../alerts/evaluate.ts'
import { noteSiteMeasures } from '../alerts/note-measures.ts'
import { notifyBudgets } from '../alerts/notify-budgets.ts'
import { purgeResults } from '../quality/results.ts'
import { runChecks } from '../quality/run-checks.ts'
import { probeModels } from '../status-page/probes.ts'
import { buildLargeIndexes } from './build-indexes.ts'
import { checkCertificates } from './check-certificates.ts'
import { checkUpstreamModels } from './check-models.ts'
import { findNewerPublicPrices } from './find-newer-prices.ts'
import { noteNode } from './note-node.ts'
import { partitionLog } from './partition-log.ts'
import { reconcileLedger } from './reconcile-ledger.ts'
import { refreshBalances } from './refresh-balances.ts'
import type { Job } from './runner.ts'
import { testChannels } from './test-channels.ts'
import { watchDestinations } from './watch-destinations.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/**
 * All jobs of the server. One whose work is a call of another folder stands here; one with more to it has a file of its own beside this
 * one. A name is also that of its lease and of its row, and therefore stays.
 */
export const jobs: readonly Job[] = [
  noteNode,
  buildLargeIndexes,
  partitionLog,
  {
    name: 'expire-holds',
    label: { zh: '释放过期的预扣额度', en: 'Release expired holds' },
    on: 'one-node',
    everyMs: () => 15 * second,
    deadlineMs: minute,
    async run({ ledger }) {
      const { settled, released } = await ledger.expire()
      return `${settled} settled, ${released} released`
    },
  },
  {
    name: 'read-spending',
    label: { zh: '读取渠道当日消耗', en: 'Load today’s channel spend' },
    on: 'each-node',
    everyMs: () => 10 * second,
    deadlineMs: 30 * second,
    async run({ spending, channels }) {
      await spending.refresh(channels.current)
      return 'read'
    },
  },
  reconcileLedger,
  {
    name: 'purge-sessions',
    label: { zh: '清理过期的登录会话', en: 'Remove expired sessions' },
    on: 'one-node',
    onDemand: true,
    everyMs: () => hour,
    deadlineMs: minute,
    async run({ sessions }) {
      await sessions.purge()
      return 'purged'
    },
  },
  {
    name: 'warn-low-quota',
    label: { zh: '发送低额度提醒', en: 'Warn of low quota' },
    on: 'each-node',
    everyMs: () => 15 * second,
    deadlineMs: 2 * minute,
    run: async (app, signal) => `${await warnLowQuota(app, signal)} warned`,
  },
  {
    name: 'roll-up-usage',
    label: { zh: '汇总用量', en: 'Roll up usage' },
    on: 'one-node',
    onDemand: true,
    everyMs: ({ DataExportInterval }) => DataExportInterval * minute,
    deadlineMs: 50 * minute,
    run: async (app, signal) => `rolled up ${await rollUpHours(app, signal)} hours`,
  },
  {
    // On request of an admin, and by the retention.
    name: 'purge-logs',
    label: { zh: '清理日志', en: 'Clean the log' },
    on: 'one-node',
    onDemand: true,
    everyMs: () => minute,
    deadlineMs: 50 * minute,
    run: async (app, signal, tell) =>
      `removed ${await runPurges(app, signal, tell)} rows and ${await purgeTasks(app, signal)} tasks`,
  },
  {
    name: 'purge-call-statistics',
    label: { zh: '清理调用统计', en: 'Clean statistics of calls' },
    on: 'one-node',
    everyMs: () => hour,
    deadlineMs: 10 * minute,
    run: async ({ db, now }) => `removed ${await removeOldCallSums(db, seconds(now()))} rows`,
  },
  {
    name: 'purge-sealed-states',
    label: { zh: '清理过期的会话状态', en: 'Forget expired conversation states' },
    on: 'one-node',
    everyMs: () => 30 * minute,
    deadlineMs: minute,
    async run({ sealedStates }) {
      await sealedStates.purge()
      return 'purged'
    },
  },
  {
    name: 'purge-kept-responses',
    label: { zh: '清理过期的回复位置', en: 'Forget expired responses' },
    on: 'one-node',
    everyMs: () => hour,
    deadlineMs: minute,
    async run({ upstreamResponses, localResponses }) {
      await upstreamResponses.purge()
      await localResponses.purge()
      return 'purged'
    },
  },
  {
    name: 'remove-files',
    label: { zh: '在上游删除不再需要的文件', en: 'Delete files at vendors' },
    on: 'one-node',
    onDemand: true,
    everyMs: () => 5 * minute,
    deadlineMs: 10 * minute,
    run: async (app, signal) => `deleted ${await removeFiles(app, signal)} files`,
  },
  {
    name: 'purge-idempotent-requests',
    label: { zh: '清理过期的幂等请求', en: 'Delete expired idempotency keys' },
    on: 'one-node',
    everyMs: () => 15 * minute,
    deadlineMs: minute,
    async run({ idempotentRequests, resumableReplies, replyPieces }) {
      await idempotentRequests.purge()
      await resumableReplies.purge()
      await replyPieces.purge()
      return 'purged'
    },
  },
  {
    name: 'purge-recordings',
    label: { zh: '清理调用记录', en: 'Delete old recordings of calls' },
    on: 'one-node',
    everyMs: () => 15 * minute,
    deadlineMs: minute,
    run: async ({ recordings }, signal) => `removed ${await recordings.purge(signal)} recordings`,
  },
  {
    name: 'purge-quality-results',
    label: { zh: '清理质量检查结果', en: 'Delete old results of quality checks' },
    on: 'one-node',
    everyMs: () => hour,
    deadlineMs: minute,
    run: async (app, signal) => `removed ${await purgeResults(app, signal)} results`,
  },
  {
    name: 'purge-budgets',
    label: { zh: '清理过期的预算周期', en: 'Delete old windows of budgets' },
    on: 'one-node',
    everyMs: () => 6 * hour,
    deadlineMs: 5 * minute,
    run: async (app) => `removed ${await purgeBudgetSums(app)} rows`,
  },
  {
    // Whether or not the caller has read them; those of dead nodes have failed.
    name: 'settle-responses',
    label: { zh: '结算后台回复', en: 'Charge responses in the background' },
    on: 'each-node',
    everyMs: () => 5 * second,
    deadlineMs: 90 * second,
    async run(app, signal) {
      await app.localResponses.endLost()
      return `${await settlePendingResponses(app, signal)} closed`
    },
  },
  {
    name: 'poll-tasks',
    label: { zh: '查询异步任务进度', en: 'Poll drawing and music tasks' },
    on: 'one-node',
    everyMs: () => 15 * second,
    deadlineMs: 2 * minute,
    run: pollTasks,
  },
  {
    name: 'follow-batches',
    label: { zh: '查询并结算批处理', en: 'Follow and charge batches' },
    on: 'one-node',
    everyMs: () => 20 * second,
    deadlineMs: 30 * minute,
    run: followBatches,
  },
  testChannels,
  {
    name: 'run-quality-checks',
    label: { zh: '运行质量检查', en: 'Run quality checks' },
    on: 'one-node',
    onDemand: true,
    everyMs: ({ QualityCheckDailyQuota }) => (QualityCheckDailyQuota > 0 ? minute : 0),
    deadlineMs: hour,
    run: runChecks,
  },
  {
    // Models without traffic, for the status page, at the cost of the site.
    name: 'probe-models',
    label: { zh: '探测模型', en: 'Probe models' },
    on: 'one-node',
    onDemand: true,
    everyMs: ({ StatusProbeMinutes }) => StatusProbeMinutes * minute,
    deadlineMs: 30 * minute,
    run: probeModels,
  },
  {
    name: 'tell-disabled-channels',
    label: { zh: '通知被自动禁用的渠道', en: 'Notify about disabled channels' },
    on: 'one-node',
    everyMs: () => 15 * second,
    deadlineMs: 2 * minute,
    run: async (app, signal) => `${await notifyDisabledChannels(app, signal)} told`,
  },
  {
    name: 'tell-implausible-usage',
    label: { zh: '通知上报用量不合理的渠道', en: 'Notify about implausible usage of channels' },
    on: 'one-node',
    everyMs: () => minute,
    deadlineMs: 2 * minute,
    run: async (app, signal) => `${await notifyImplausibleUsage(app, signal)} told`,
  },
  {
    name: 'notify-budgets',
    label: { zh: '提醒预算使用比例', en: 'Notify about budgets' },
    on: 'one-node',
    everyMs: () => 15 * second,
    deadlineMs: 2 * minute,
    run: async (app, signal) => `${await notifyBudgets(app, signal)} announced`,
  },
  {
    name: 'evaluate-alerts',
    label: { zh: '评估告警规则', en: 'Evaluate alert rules' },
    on: 'one-node',
    onDemand: true,
    everyMs: () => minute,
    deadlineMs: 55 * second,
    async run(app, signal) {
      await noteSiteMeasures(app)
      const { firing, failed } = await evaluateRules(app, signal)
      if (failed > 0) throw new Error(`${failed} rules could not be evaluated`)
      return `${firing} firing`
    },
  },
  checkCertificates,
  {
    name: 'send-deliveries',
    label: { zh: '发送告警与事件', en: 'Send alerts and events' },
    on: 'one-node',
    everyMs: () => 5 * second,
    deadlineMs: minute,
    async run(app, signal) {
      await queueFailedCalls(app)
      const { sent, failed } = await sendDeliveries(app, signal)
      return `${sent} sent, ${failed} failed`
    },
  },
  watchDestinations,
  refreshBalances,
  checkUpstreamModels,
  {
    name: 'forget-lacking-endpoints',
    label: { zh: '重新尝试上游缺少的接口', en: 'Retry endpoints marked unsupported' },
    on: 'one-node',
    everyMs: () => 10 * minute,
    deadlineMs: minute,
    run: async (app) => `${await expireMissingEndpoints(app)} channels`,
  },
  findNewerPublicPrices,
]

/** Throws when there is none. */
export function jobNamed(name: string): Job {
  const job = jobs.find((each) => each.name === name)
  if (!job) throw new Error(`There is no job ${name}`)
  return job
}
