import { defineTexts } from '../../lib/i18n.ts'

/** Texts of recording rules: which calls are recorded, and until when. */
export const texts = defineTexts({
  title: ['记录 {name} 的调用', 'Record calls of {name}'],
  titleSite: ['调用记录', 'Recordings of calls'],
  what: [
    '记录期间，请求与回复的正文和头部会被加密保存；密钥、Cookie 等机密内容不保存。可在日志中打开记录。',
    'Stores the headers and bodies of requests and responses, encrypted and without keys, cookies or other secrets. Open recordings from the log.',
  ],
  whoOwn: [
    '你和超级管理员可以查看；每次由超级管理员查看都会写入审计记录。',
    'Visible to you and to super admins. Each view by a super admin is recorded in the audit log.',
  ],
  whoRoot: [
    '用户只能看到自己调用中自己一侧的内容。每次查看都会写入审计记录。',
    'Users see only their own side of their own calls. Each view is recorded in the audit log.',
  ],
  kept: [
    '到期后自动停止。记录在设置的天数后自动删除。',
    'Recording stops automatically. Recordings are deleted after the number of days in the settings.',
  ],
  for: ['持续时间', 'Duration'],
  hour: ['1 小时', '1 hour'],
  day: ['1 天', '1 day'],
  week: ['7 天', '7 days'],
  month: ['30 天', '30 days'],
  share: ['记录比例（‰）', 'Share of calls (‰)'],
  shareHint: ['每 1000 次调用中记录多少次', 'How many of 1,000 calls are recorded'],
  start: ['开始记录', 'Start recording'],
  change: ['更改', 'Change'],
  stop: ['停止记录', 'Stop recording'],
  started: ['已开始记录', 'Recording started'],
  stopped: ['已停止记录', 'Recording stopped'],
  running: ['正在记录，至 {time}', 'Recording until {time}'],
  inForce: ['当前规则', 'Active rules'],
  none: [
    '当前没有记录任何调用。在用户、渠道或令牌的菜单中，或在此按比例开始。',
    'No calls are recorded. Start from the menu of a user, channel or token, or record a share of all calls here.',
  ],
  kind: ['范围', 'Scope'],
  target: ['对象', 'Name'],
  until: ['截止', 'Until'],
  by: ['设置者', 'Set by'],
  site: ['全站', 'Whole site'],
  noticeOwn: ['你的全部调用正在被记录，至 {time}。', 'All your calls are recorded until {time}.'],
  noticeSome: [
    '本站正在记录部分调用，你的调用也可能被记录，至 {time}。',
    'This site records some calls until {time}. Yours may be included.',
  ],
  noticeHint: [
    '记录包含请求与回复的内容，不含密钥；超级管理员可以查看。已被记录的调用在日志中有标记。',
    'Recordings contain requests and responses without keys. Super admins can view them. Recorded calls are marked in your log.',
  ],
})
