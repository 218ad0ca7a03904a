import { defineTexts } from '../../../lib/i18n.ts'

export const texts = defineTexts({
  title: ['24 小时成功率 · p95', 'Success · p95 in 24 h'],
  errorTitle: ['最近错误', 'Last error'],
  noCalls: ['近 24 小时无调用', 'No calls in the last 24 hours'],
  noCallsToday: ['无调用', 'No calls'],
  share: [
    '近 24 小时：{attempts} 次尝试，成功率 {share}',
    'Last 24 hours: {attempts} {attempts|attempt|attempts}, {share} succeeded',
  ],
  slow: ['95% 在 {p95} 内完成', '95% took at most {p95}'],
  lastError: ['最近错误（{time}）：{code} {message}', 'Last error ({time}): {code} {message}'],
  noError: ['近 7 天没有错误', 'No error in the last 7 days'],
  strip: ['近 24 小时：{failed} / {count} 次失败', 'Last 24 hours: {failed} of {count} failed'],
  open: ['熔断', 'Breaker open'],
  halfOpen: ['试探', 'Breaker half-open'],
  partlyOpen: ['{open}/{keys} 个密钥熔断', 'Breaker: {open}/{keys} keys'],
  reason: ['连续失败 {failures} 次，暂停使用。', 'Paused after {failures} {failures|failure|failures} in a row.'],
  retry: ['{seconds} 秒后再试。', 'Retried in {seconds} s.'],
  trying: ['下一次请求会试探是否恢复。', 'The next request tests whether it has recovered.'],
  ofNode: ['为提供此页面的节点上的状态。', 'State on the node that served this page.'],
  otherModels: ['其他模型 {count}', 'Other model: {count}'],
  otherModelsHint: [
    '近 24 小时上游回答中的模型与发送的不同：',
    'In the last 24 hours replies named another model than was sent:',
  ],
  answeredBy: ['{sent} 由 {answered} 回答：{calls} 次', '{sent} was answered by {answered}: {calls}'],
  below: ['质量检查“{check}”（{model}）低于阈值', 'Quality check “{check}” ({model}) is below its threshold'],
  dropped: ['质量检查“{check}”（{model}）低于基线', 'Quality check “{check}” ({model}) is below its baseline'],
  moreDepartures: ['另有 {count} 项', '{count} more'],
})
