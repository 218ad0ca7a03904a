import { defineTexts } from '../../../lib/i18n.ts'

/** Loaded with the dialog, not with the list. */
export const texts = defineTexts({
  jobs: ['正在进行的任务', 'Running jobs'],
  dismiss: ['关闭', 'Close'],
  jobTest: ['测试所有渠道', 'Test all channels'],
  jobBalance: ['更新余额', 'Update balances'],
  jobModels: ['检查上游模型', 'Check upstream models'],
  progress: ['{job}：{done} / {total}', '{job}: {done} of {total}'],
  ended_ok: ['{job}：完成，共 {total} 个渠道', '{job}: completed, {total} {total|channel|channels}'],
  ended_failed: ['{job}：中途失败，已处理 {done} / {total}', '{job}: failed after {done} of {total}'],
  ended_timeout: ['{job}：超过时限，已处理 {done} / {total}', '{job}: timed out after {done} of {total}'],
  count_passed: ['通过 {count}', '{count} passed'],
  count_read: ['已更新 {count}', '{count} updated'],
  count_same: ['无变化 {count}', '{count} unchanged'],
  count_changed: ['有变化 {count}', '{count} changed'],
  count_slow: ['过慢 {count}', '{count} too slow'],
  count_failed: ['失败 {count}', '{count} failed'],
  count_broken: ['出错 {count}', '{count} with {count|an error|errors}'],
  count_cannot: ['不支持 {count}', '{count} not supported'],

  changesTitle: ['上游模型变化', 'Upstream model changes'],
  changesHint: [
    '上游新增或不再列出的模型。勾选的会写入渠道的模型列表。',
    'Models that upstreams have added or no longer list. Selected changes are applied to the channel’s model list.',
  ],
  check: ['立即检查', 'Check now'],
  changesEmpty: ['没有待处理的变化', 'No pending changes'],
  changesEmptyHint: [
    '第一次检查只记录上游现有的模型；可在“监控设置”中定期检查。',
    'The first check only records the upstreams’ models. To check regularly, set an interval under “Monitoring settings”.',
  ],
  checkedAt: ['检查于 {time}', 'Checked {time}'],
  added: ['新增 {count}', '{count} added'],
  removed: ['不再列出 {count}', '{count} no longer listed'],
  apply: ['应用所选 {count} 项', 'Apply {count}'],
  ignore: ['忽略', 'Dismiss'],
  applied: ['“{name}”的模型已更新', 'Models of “{name}” updated'],
  dismissed: ['已忽略“{name}”的变化', 'Changes of “{name}” dismissed'],
})
