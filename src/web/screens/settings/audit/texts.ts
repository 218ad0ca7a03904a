import { defineTexts } from '../../../lib/i18n.ts'

/** Loaded with the part of the screen that shows them. */
export const texts = defineTexts({
  title: ['审计日志', 'Audit log'],
  description: [
    '谁在何时、从哪里、对什么做了什么。只能追加，每一行都与前一行相连，被改动即可发现。',
    'Records who did what, when and from where. Append-only: each row is chained to the previous one, so that any change is detected.',
  ],
  time: ['时间', 'Time'],
  actor: ['操作者', 'User'],
  system: ['系统', 'System'],
  action: ['操作', 'Action'],
  changes: ['变化', 'Changes'],
  more: ['另有 {count} 项', '{count} more'],
  before: ['修改前', 'Before'],
  after: ['修改后', 'After'],
  address: ['来源地址', 'IP address'],
  actorFilter: ['操作者（名称或 ID）', 'User (name or ID)'],
  actionFilter: ['操作，例如 option', 'Action, e.g. option'],
  targetFilter: ['对象，例如 user:7', 'Target, e.g. user:7'],
  timeFilter: ['时间范围', 'Time range'],
  verify: ['校验完整性', 'Verify integrity'],
  intact: ['完整：共 {rows} 行，均未被改动', 'Intact: {rows} {rows|row|rows}, no changes detected'],
  broken: [
    '第 {id} 行与之前的行不相连：它或它之前的一行被改动、插入或删除',
    'Row {id} does not match the previous row: it or an earlier row was changed, inserted or deleted',
  ],
  head: [
    '末行校验值（另行保存，可发现末尾被截去）：{head}',
    'Hash of the last row (store it elsewhere to detect truncation): {head}',
  ],
  empty: ['暂无记录', 'No records yet'],
  emptyHint: [
    '管理操作会记录在这里，例如修改设置、渠道或用户。',
    'Admin actions are recorded here, such as changes to settings, channels and users.',
  ],
  none: ['空', 'empty'],
})
