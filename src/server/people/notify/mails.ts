import { fill, type Language, type Text, type TextParams } from '../../../contract/text.ts'
import type { Message } from '../../usage/log/record-event.ts'
import type { Mail } from './mailer.ts'

/**
 * The texts and the layout of every mail that this site sends. A mail consists of paragraphs, and may contain a code or a button.
 */
interface Words {
  readonly subject: Text
  readonly lines: readonly Text[]
  /** Label of the link, if there is one. */
  readonly button?: Text
}

const ignore: Text = {
  zh: '如果这不是您本人的操作，请忽略此邮件。',
  en: 'If this was not you, ignore this mail.',
}

export const mails = {
  code: {
    subject: { zh: '{site} 邮箱验证码', en: 'Your {site} verification code' },
    lines: [
      {
        zh: '您的验证码如下，{minutes} 分钟内有效，只能使用一次。',
        en: 'This is your code. It is valid for {minutes} {minutes|minute|minutes}, once.',
      },
      { zh: '请勿告诉任何人，工作人员不会向您索取。', en: 'Tell it to nobody; nobody of this site will ask for it.' },
      ignore,
    ],
  },
  taken: {
    subject: { zh: '{site} 邮箱已注册', en: 'You already have an account at {site}' },
    lines: [
      {
        zh: '有人（可能是您）请求用此邮箱注册或绑定账户，但它已属于一个账户。',
        en: 'Someone, perhaps you, asked to use this address for an account, but it belongs to one already.',
      },
      {
        zh: '您可以直接登录；忘记密码时请在登录页重置。',
        en: 'You can log in; if you forgot the password, reset it on the login page.',
      },
      ignore,
    ],
  },
  reset: {
    subject: { zh: '{site} 密码重置', en: 'Reset your {site} password' },
    lines: [
      {
        zh: '请在 {minutes} 分钟内点击下面的链接重置账户 {username} 的密码，链接只能使用一次。',
        en: 'Follow this link within {minutes} {minutes|minute|minutes} to reset the password of the account {username}. It works once.',
      },
      ignore,
    ],
    button: { zh: '重置密码', en: 'Reset the password' },
  },
  emailChanged: {
    subject: { zh: '{site} 账户邮箱已更换', en: 'The e-mail address of your {site} account was changed' },
    lines: [
      {
        zh: '账户 {username} 的邮箱已更换，此邮箱不再能用于登录和重置密码。',
        en: 'The account {username} has a new e-mail address; this one can no longer be used to log in or to reset the password.',
      },
      { zh: '如果这不是您本人的操作，请立即联系管理员。', en: 'If this was not you, contact the admin at once.' },
    ],
  },
  passwordReset: {
    subject: { zh: '{site} 密码已重置', en: 'Your {site} password was reset' },
    lines: [
      {
        zh: '账户 {username} 的密码刚刚通过邮件链接重置，所有已登录的设备均已退出。',
        en: 'The password of the account {username} was just reset with a link from a mail, and every device was signed out.',
      },
      { zh: '如果这不是您本人的操作，请立即联系管理员。', en: 'If this was not you, contact the admin at once.' },
    ],
  },
  loginMethodsChanged: {
    subject: { zh: '{site} 账户登录方式已更改', en: 'The ways into your {site} account have changed' },
    lines: [
      { zh: '账户 {username} 刚刚{change}。', en: 'A change of the account {username}: {change}.' },
      {
        zh: '如果这不是您本人的操作，请立即修改密码，并联系管理员。',
        en: 'If this was not you, change your password and contact the admin at once.',
      },
    ],
  },
  lowQuota: {
    subject: { zh: '{site} 额度不足提醒', en: 'Your {site} quota is low' },
    lines: [
      {
        zh: '账户 {username} 的剩余额度为 {left}，低于 {threshold}。',
        en: 'The account {username} has {left} left, less than {threshold}.',
      },
      { zh: '额度用尽后请求将被拒绝，请及时充值。', en: 'Requests are refused when nothing is left; top up in time.' },
    ],
    button: { zh: '前往充值', en: 'Top up' },
  },
  channelDisabled: {
    subject: { zh: '{site} 渠道 {channel} 已被自动禁用', en: 'The channel {channel} of {site} was disabled automatically' },
    lines: [
      {
        zh: '渠道 {channel}（#{id}）已被自动禁用：{reason}',
        en: 'The channel {channel} (#{id}) was disabled automatically: {reason}',
      },
      {
        zh: '在重新启用之前，请求不会再发送到该渠道。两小时内不会就同一渠道再次通知。',
        en: 'No request goes to it until it is enabled again. You will not be told of the same channel again within two hours.',
      },
    ],
    button: { zh: '查看渠道', en: 'Look at the channels' },
  },
  usageImplausible: {
    subject: { zh: '{site} 渠道 {channel} 上报的用量不合理', en: 'The channel {channel} of {site} reports implausible usage' },
    lines: [
      {
        zh: '渠道 {channel}（#{id}）在 24 小时内有 {count} 次请求上报的用量超出请求可能达到的上限。用户按上限付费，差额由站点承担。',
        en: 'The channel {channel} (#{id}) reported more usage than the request can have for {count} {count|request|requests} within 24 hours. Users were charged at most what their requests can have; the site bears the difference.',
      },
      {
        zh: '如果该上游不遵守输出上限，或思考不计入上限，请在渠道设置中注明。每天不会就同一渠道再次通知。',
        en: 'If the upstream does not keep output limits, or counts reasoning beside them, say so in the settings of the channel. You are told of one channel once a day.',
      },
    ],
    button: { zh: '查看日志', en: 'Look at the log' },
  },
  promptAddition: {
    subject: {
      zh: '{site} 渠道 {channel} 上报的提示词比请求更长',
      en: 'The channel {channel} of {site} reports longer prompts than were sent',
    },
    lines: [
      {
        zh: '渠道 {channel}（#{id}）在 24 小时内有 {count} 次请求上报的提示词比请求本身更长，费用超出了预扣的额度。用户按预扣的额度付费，差额由站点承担。',
        en: 'The channel {channel} (#{id}) reported longer prompts than were sent for {count} {count|request|requests} within 24 hours, which cost more than was held. Users were charged what was held; the site bears the difference.',
      },
      {
        zh: '如果该上游会增加文档、搜索结果或自带的提示词，请在渠道设置中注明“会增加”，以便足额预扣；如果不会，请注明“从不增加”。约二十次请求后，通常增加的长度会自动预扣。每天不会就同一渠道再次通知。',
        en: 'If the upstream adds documents, search results or a prompt of its own, say so in the settings of the channel, so that enough is held; if it does not, say that it never adds. What it usually adds is held by itself after about twenty requests. You are told of one channel once a day.',
      },
    ],
    button: { zh: '查看日志', en: 'Look at the log' },
  },
  budgetReached: {
    subject: { zh: '{site} 预算已使用 {share}%', en: 'A budget of {site} has reached {share} %' },
    lines: [
      {
        zh: '{subject} 的预算（{budget}）已使用 {share}%：{spent} / {amount}。',
        en: 'The budget of {subject} ({budget}) has reached {share} %: {spent} of {amount}.',
      },
      { zh: '{effect}', en: '{effect}' },
    ],
    button: { zh: '查看预算', en: 'Show the budgets' },
  },
  invitation: {
    subject: { zh: '{inviter} 邀请你加入 {organisation}', en: '{inviter} invites you to {organisation}' },
    lines: [
      {
        zh: '{inviter} 邀请你加入 {site} 上的组织 {organisation}。接受后，你可以用组织的余额创建令牌。',
        en: '{inviter} invites you to the organisation {organisation} at {site}. As a member you can create API keys that it pays for.',
      },
      { zh: '邀请 {days} 天内有效。', en: 'The invitation is valid for {days} {days|day|days}.' },
      ignore,
    ],
    button: { zh: '查看邀请', en: 'Show the invitation' },
  },
  raiseRequested: {
    subject: { zh: '{member} 申请提高 {organisation} 的预算', en: '{member} asks for a greater budget in {organisation}' },
    lines: [
      {
        zh: '{member} 申请在当前周期内将 {subject} 的预算提高到 {amount}。',
        en: '{member} asks to raise the budget of {subject} to {amount} for its current window.',
      },
      { zh: '理由：{reason}', en: 'Reason: {reason}' },
    ],
    button: { zh: '查看申请', en: 'Show the request' },
  },
  destinationDisabled: {
    subject: { zh: '{site} 通知目标 {name} 已被自动禁用', en: 'The destination {name} of {site} was disabled automatically' },
    lines: [
      {
        zh: '发往 {name} 的消息已连续三天无法送达，该 Webhook 已被自动禁用：{reason}',
        en: 'No message to {name} has arrived for three days, so the webhook was disabled: {reason}',
      },
      {
        zh: '重新启用后，等待中的消息会继续发送。',
        en: 'What waits for it is sent once it is enabled again.',
      },
    ],
    button: { zh: '查看通知目标', en: 'Open destinations' },
  },
  test: {
    subject: { zh: '{site} 测试通知', en: 'A test message of {site}' },
    lines: [{ zh: '如果您收到此消息，说明通知设置有效。', en: 'If you can read this, the settings work.' }],
  },
} as const satisfies Record<string, Words>

export type MailKind = keyof typeof mails

interface Letter {
  readonly to: string
  readonly language: Language
  /** `site` is the name of the site; the others are the params of the texts. */
  readonly params: TextParams & { readonly site: string }
  /** Shown large, on its own line. */
  readonly code?: string
  /** http or https. The target of the button, if any. */
  readonly link?: string
}

/** The mail of a kind in one language, as text and as HTML. */
export function writeMail(kind: MailKind, { to, language, params, code, link }: Letter): Mail {
  const { subject, lines, button }: Words = mails[kind]
  const say = (text: Text) => fill(text[language], params, language)
  const [first = '', ...rest] = lines.map(say)
  const label = button && link ? say(button) : ''

  const text = [first, ...(code ? [code] : []), ...(label ? [`${label}: ${link}`] : []), ...rest, `— ${params.site}`]
  const html = [
    paragraph(first),
    ...(code ? [`<p style="font:700 28px/1.2 monospace;letter-spacing:4px">${escapeHtml(code)}</p>`] : []),
    ...(label && link ? [buttonHtml(label, link), `<p style="word-break:break-all;color:#666">${escapeHtml(link)}</p>`] : []),
    ...rest.map(paragraph),
  ]
  return { to, subject: say(subject), text: text.join('\n\n'), html: page(language, params.site, html.join('')) }
}

/** The mail of an alert: its title, its text and a link to the console. */
export function writeMessageMail(
  { type, title, content, path }: Message,
  { to, language, site, address }: { to: string; language: Language; site: string; address: string },
): Mail {
  const subject = `${site}: ${title?.[language] ?? type}`
  const lines = (content?.[language] ?? type).split('\n')
  const link = path && address !== '' ? `${address}${path}` : ''
  const text = [...lines, ...(link ? [link] : []), `— ${site}`].join('\n\n')
  const open = { zh: '在控制台查看', en: 'Open the console' }
  const html = [...lines.map(paragraph), ...(link ? [buttonHtml(open[language], link)] : [])].join('')
  return { to, subject, text, html: page(language, site, html) }
}

/** The text of a webhook notice: the text of the mail, without HTML. */
export function wordsOf(kind: MailKind, language: Language, params: Letter['params']): { title: string; content: string } {
  const { subject, lines }: Words = mails[kind]
  const say = (text: Text) => fill(text[language], params, language)
  return { title: say(subject), content: lines.map(say).join(' ') }
}

function page(language: Language, site: string, body: string): string {
  return `<!doctype html><html lang="${language}"><body style="margin:0;padding:24px;background:#f4f5f7;font:15px/1.6 sans-serif;color:#1a1b1e">
<div style="max-width:520px;margin:0 auto;padding:24px 28px;background:#fff;border-radius:8px"><p style="margin:0 0 12px;font-weight:700">${escapeHtml(site)}</p>${body}</div></body></html>`
}

function paragraph(text: string): string {
  return `<p>${escapeHtml(text)}</p>`
}

function buttonHtml(label: string, link: string): string {
  return `<p><a href="${escapeHtml(link)}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#1c6dd0;color:#fff;text-decoration:none">${escapeHtml(label)}</a></p>`
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)
}
