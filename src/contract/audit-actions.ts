import type { Text } from './text.ts'

/** What administrative actions are called: `{target}` is what was acted upon. */
export const auditActions: Readonly<Record<string, Text>> = {
  'alert.rule': { zh: '修改了{target}', en: 'Changed {target}' },
  'alert.silence': { zh: '添加了{target}', en: 'Added {target}' },
  'alert.unsilence': { zh: '结束了{target}', en: 'Ended {target}' },
  'answer.stop': { zh: '停止了{target}的应答', en: 'Stopped the answer to {target}' },
  'audit.export': { zh: '导出了审计日志', en: 'Exported the audit log' },
  'batch.export': { zh: '导出了批处理的请求', en: 'Exported the requests of a batch' },
  'budget.create': { zh: '创建了{target}', en: 'Created {target}' },
  'budget.delete': { zh: '删除了{target}', en: 'Deleted {target}' },
  'budget.override': { zh: '临时提高了{target}', en: 'Raised {target} for its window' },
  'budget.reset': { zh: '重置了{target}', en: 'Reset {target}' },
  'budget.update': { zh: '修改了{target}', en: 'Changed {target}' },
  'channel.add': { zh: '添加了{target}', en: 'Added {target}' },
  'channel.auto-disable': { zh: '自动禁用了{target}', en: 'Disabled {target} automatically' },
  'channel.auto-enable': { zh: '自动启用了{target}', en: 'Enabled {target} automatically' },
  'channel.copy': { zh: '复制了{target}', en: 'Copied {target}' },
  'channel.delete': { zh: '删除了{target}', en: 'Deleted {target}' },
  'channel.edit': { zh: '修改了{target}', en: 'Changed {target}' },
  'channel.export': { zh: '导出了渠道', en: 'Exported channels' },
  'channel.fix': { zh: '修复了渠道数据', en: 'Repaired the channels' },
  'channel.key-add': { zh: '为{target}添加了密钥', en: 'Added keys to {target}' },
  'channel.key-auto-disable': { zh: '自动禁用了{target}', en: 'Disabled {target} automatically' },
  'channel.key-auto-enable': { zh: '自动启用了{target}', en: 'Enabled {target} automatically' },
  'channel.key-remove': { zh: '移除了{target}', en: 'Removed {target}' },
  'channel.key-status': { zh: '修改了{target}的状态', en: 'Changed the status of {target}' },
  'channel.models-apply': { zh: '更新了{target}的模型', en: 'Updated the models of {target}' },
  'channel.models-dismiss': { zh: '忽略了{target}的模型变化', en: 'Dismissed changes of models of {target}' },
  'channel.status': { zh: '修改了{target}的状态', en: 'Changed the status of {target}' },
  'channel.tag': { zh: '为{target}设置了标签', en: 'Tagged {target}' },
  'channel.tag-edit': { zh: '按标签修改了{target}', en: 'Changed {target}' },
  'channel.tag-status': { zh: '按标签修改了{target}的状态', en: 'Changed the status of {target}' },
  'delivery.resend': { zh: '重新发送了{target}', en: 'Sent {target} again' },
  'destination.create': { zh: '添加了{target}', en: 'Added {target}' },
  'destination.delete': { zh: '删除了{target}', en: 'Deleted {target}' },
  'destination.update': { zh: '修改了{target}', en: 'Changed {target}' },
  'drawing.export': { zh: '导出了绘图任务', en: 'Exported drawings' },
  'file.delete': { zh: '删除了{target}', en: 'Deleted {target}' },
  'file.export': { zh: '导出了文件', en: 'Exported files' },
  'import.litellm': { zh: '从 LiteLLM 导入了数据', en: 'Imported data from LiteLLM' },
  'import.new-api': { zh: '从 new-api 导入了数据', en: 'Imported data from new-api' },
  'import.one-api': { zh: '从 one-api 导入了数据', en: 'Imported data from one-api' },
  'incident.change': { zh: '修改了{target}', en: 'Changed {target}' },
  'incident.delete': { zh: '删除了{target}', en: 'Deleted {target}' },
  'incident.open': { zh: '发布了{target}', en: 'Published {target}' },
  'incident.update': { zh: '更新了{target}', en: 'Posted an update of {target}' },
  'job.start': { zh: '启动了{target}', en: 'Started {target}' },
  'ledger.gap': { zh: '发现账本缺口', en: 'Found a gap in the ledger' },
  'log.export': { zh: '导出了日志', en: 'Exported the log' },
  'log.purge': { zh: '开始清理{target}', en: 'Started to delete {target}' },
  'log.stop-purge': { zh: '停止清理{target}', en: 'Stopped deleting {target}' },
  'master-key.rotate': { zh: '更换了主密钥', en: 'Replaced the master key' },
  'option.save': { zh: '修改了{target}', en: 'Changed {target}' },
  'organisation.allow': { zh: '修改了{target}的成员权限', en: 'Changed what members of {target} may do' },
  'organisation.close': { zh: '关闭了{target}', en: 'Closed {target}' },
  'organisation.decline': { zh: '拒绝了{target}的邀请', en: 'Declined an invitation of {target}' },
  'organisation.directory': { zh: '目录更新了{target}的成员', en: 'The directory changed a member of {target}' },
  'organisation.domains': { zh: '修改了{target}的邮箱域名', en: 'Changed the mail domains of {target}' },
  'organisation.edit': { zh: '修改了{target}', en: 'Changed {target}' },
  'organisation.found': { zh: '创建了{target}', en: 'Founded {target}' },
  'organisation.invite': { zh: '邀请了{target}的新成员', en: 'Invited somebody to {target}' },
  'organisation.join': { zh: '加入了{target}', en: 'Joined {target}' },
  'organisation.member-remove': { zh: '移除了{target}的成员', en: 'Removed a member of {target}' },
  'organisation.member-role': { zh: '修改了{target}成员的角色', en: 'Changed the role of a member of {target}' },
  'organisation.offer': { zh: '提出转让{target}', en: 'Offered {target} to a member' },
  'organisation.quota': { zh: '调整了{target}的额度', en: 'Adjusted the quota of {target}' },
  'organisation.rules': { zh: '修改了{target}的目录分组规则', en: 'Changed what groups of the directory give in {target}' },
  'organisation.scim': { zh: '更换了{target}的 SCIM 令牌', en: 'Replaced the SCIM token of {target}' },
  'organisation.sign-on': { zh: '修改了{target}的登录方式', en: 'Changed how people sign in to {target}' },
  'organisation.team-close': { zh: '关闭了{target}的团队', en: 'Closed a team of {target}' },
  'organisation.team-create': { zh: '创建了{target}的团队', en: 'Created a team of {target}' },
  'organisation.team-edit': { zh: '修改了{target}的团队', en: 'Changed a team of {target}' },
  'organisation.team-member': { zh: '修改了{target}团队的成员', en: 'Changed the members of a team of {target}' },
  'organisation.webhook-create': { zh: '为{target}添加了 Webhook', en: 'Added a webhook of {target}' },
  'organisation.webhook-delete': { zh: '删除了{target}的 Webhook', en: 'Deleted a webhook of {target}' },
  'organisation.webhook-update': { zh: '修改了{target}的 Webhook', en: 'Changed a webhook of {target}' },
  'organisation.withdraw': { zh: '撤回了{target}的邀请', en: 'Withdrew an invitation of {target}' },
  'price-data.apply': { zh: '应用了新的公开价格', en: 'Applied newer public prices' },
  'price-data.check': { zh: '检查了公开价格', en: 'Checked for newer public prices' },
  'price-data.dismiss': { zh: '忽略了新的公开价格', en: 'Dismissed newer public prices' },
  'price-data.restore': { zh: '恢复了内置的公开价格', en: 'Restored the public prices of this version' },
  'price-data.undo': { zh: '撤销了公开价格的更新', en: 'Undid an update of public prices' },
  'quality_check.create': { zh: '创建了{target}', en: 'Created {target}' },
  'quality_check.delete': { zh: '删除了{target}', en: 'Deleted {target}' },
  'quality_check.disable': { zh: '停用了{target}', en: 'Disabled {target}' },
  'quality_check.enable': { zh: '启用了{target}', en: 'Enabled {target}' },
  'quality_check.run': { zh: '运行了{target}', en: 'Ran {target}' },
  'quality_check.update': { zh: '修改了{target}', en: 'Changed {target}' },
  'recording.start': { zh: '开始记录{target}', en: 'Started to record {target}' },
  'recording.stop': { zh: '停止记录{target}', en: 'Stopped recording {target}' },
  'recording.read': { zh: '查看了{target}', en: 'Read {target}' },
  'redemption.create': { zh: '创建了{target}', en: 'Created {target}' },
  'redemption.delete': { zh: '删除了{target}', en: 'Deleted {target}' },
  'redemption.delete-invalid': { zh: '删除了无效兑换码', en: 'Deleted invalid redemption codes' },
  'redemption.disable': { zh: '禁用了{target}', en: 'Disabled {target}' },
  'redemption.edit': { zh: '修改了{target}', en: 'Changed {target}' },
  'redemption.enable': { zh: '启用了{target}', en: 'Enabled {target}' },
  'redemption.export': { zh: '导出了兑换码', en: 'Exported redemption codes' },
  'redemption.status': { zh: '修改了{target}的状态', en: 'Changed the status of {target}' },
  'task.export': { zh: '导出了任务', en: 'Exported tasks' },
  'top-up.check': { zh: '核对了{target}', en: 'Checked {target}' },
  'top-up.complete': { zh: '补单：{target}', en: 'Completed {target}' },
  'top-up.export': { zh: '导出了充值订单', en: 'Exported top-up orders' },
  'top-up.flag': { zh: '标记了{target}', en: 'Flagged {target}' },
  'top-up.withdraw': { zh: '撤回了{target}的额度', en: 'Withdrew the quota of {target}' },
  'user.create': { zh: '创建了{target}', en: 'Created {target}' },
  'user.delete': { zh: '删除了{target}', en: 'Deleted {target}' },
  'user.delete-self': { zh: '注销了自己的账户', en: 'Deleted the own account' },
  'user.demote': { zh: '降级了{target}', en: 'Demoted {target}' },
  'user.disable': { zh: '禁用了{target}', en: 'Disabled {target}' },
  'user.edit': { zh: '修改了{target}', en: 'Changed {target}' },
  'user.enable': { zh: '启用了{target}', en: 'Enabled {target}' },
  'user.export': { zh: '导出了用户', en: 'Exported users' },
  'user.group': { zh: '修改了{target}的分组', en: 'Changed the group of {target}' },
  'user.promote': { zh: '提升了{target}', en: 'Promoted {target}' },
  'user.quota': { zh: '调整了{target}的额度', en: 'Adjusted the quota of {target}' },
  'user.reset-factors': { zh: '重置了{target}的两步验证', en: 'Reset the second factors of {target}' },
  'user.sign-out': { zh: '退出了{target}的全部会话', en: 'Signed out {target} everywhere' },
  'user.unlock': { zh: '解除了{target}的登录锁定', en: 'Unlocked the login of {target}' },
  'user.root-password': { zh: '重置了{target}的密码', en: 'Reset the password of {target}' },
  'video.export': { zh: '导出了视频', en: 'Exported videos' },
}

/** Kinds of targets, as in `user:7`. */
const targetKinds: Readonly<Record<string, Text>> = {
  alert: { zh: '告警规则', en: 'alert rule' },
  budget: { zh: '预算', en: 'budget' },
  channel: { zh: '渠道', en: 'channel' },
  delivery: { zh: '投递', en: 'delivery' },
  destination: { zh: '通知目标', en: 'destination' },
  file: { zh: '文件', en: 'file' },
  incident: { zh: '事件', en: 'incident' },
  job: { zh: '作业', en: 'job' },
  option: { zh: '设置', en: 'setting' },
  organisation: { zh: '组织', en: 'organisation' },
  quality_check: { zh: '质量检查', en: 'quality check' },
  recording: { zh: '调用记录', en: 'recording' },
  redemption: { zh: '兑换码', en: 'redemption code' },
  silence: { zh: '静默', en: 'silence' },
  tag: { zh: '标签', en: 'tag' },
  top_up: { zh: '充值订单', en: 'top-up order' },
  user: { zh: '用户', en: 'user' },
}

/** An action as a sentence without its subject; one that is not known by its own name. `nameOf` gives the name of a setting. */
export function auditSentence(
  { action, target }: { readonly action: string; readonly target: string },
  nameOf: (option: string) => Text | undefined,
): Text {
  const sentence = auditActions[action]
  if (!sentence) return { zh: `${action} ${target}`, en: `${action} ${target}` }
  const [, kind = '', name = ''] = /^(\w+):(.*)$/s.exec(target) ?? []
  const known = targetKinds[kind]
  const named = kind === 'option' ? nameOf(name) : undefined
  const told: Text = named
    ? { zh: `设置“${named.zh}”`, en: `the setting “${named.en}”` }
    : known
      ? { zh: `${known.zh} ${name}`, en: `${known.en} ${name}` }
      : { zh: target, en: target }
  return { zh: sentence.zh.replace('{target}', () => told.zh), en: sentence.en.replace('{target}', () => told.en) }
}

/** A member that an action changed; '' stands for none. */
interface AuditedChange {
  readonly name: string
  readonly before: string
  readonly after: string
}

/** What differs between the values before and after: by member of JSON objects, else as a whole, with the name ''. */
export function auditedChanges({ before, after }: { readonly before: string; readonly after: string }): AuditedChange[] {
  const [old, fresh] = [objectOf(before), objectOf(after)]
  if (!old && !fresh) return before === after ? [] : [{ name: '', before, after }]
  if ((!old && before !== '') || (!fresh && after !== '')) return [{ name: '', before, after }]
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(fresh ?? {})])]
  return names
    .map((name) => ({ name, before: shown(old?.[name]), after: shown(fresh?.[name]) }))
    .filter((change) => change.before !== change.after)
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
