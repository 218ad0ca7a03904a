import { option, section, type Zod } from './define.ts'
import { commaListOf } from './lists.ts'
import { integer, line, longTextLengthMax, message, secret, toggle } from './shapes.ts'

const writer = 'root'

const domains = (z: Zod) =>
  z
    .string()
    .max(longTextLengthMax)
    .transform((text) => [...new Set(commaListOf(text.toLowerCase()))].join(','))
    .refine(
      (text) => commaListOf(text).every((domain) => /^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u.test(domain)),
      message('须为逗号分隔的域名', 'must be domains separated by commas'),
    )

export const emailDomains = section(
  {
    name: 'email-domains',
    tab: 'system',
    label: { zh: '配置邮箱域名白名单', en: 'Email domain allowlist' },
    help: {
      zh: '用以防止恶意用户利用临时邮箱批量注册。',
      en: 'Prevents mass registration with disposable email addresses.',
    },
    writer,
  },
  {
    EmailDomainRestrictionEnabled: option({
      ...toggle(false),
      label: { zh: '启用邮箱域名白名单', en: 'Enable the email domain allowlist' },
      help: { zh: '只接受白名单内域名的邮箱。', en: 'Accepts only addresses of the listed domains.' },
    }),
    EmailAliasRestrictionEnabled: option({
      ...toggle(false),
      label: { zh: '启用邮箱别名限制', en: 'Refuse email aliases' },
      help: { zh: '拒绝用户名部分含有 + 或 . 的邮箱。', en: 'Refuses addresses with a plus sign or a dot before the @.' },
    }),
    EmailDomainWhitelist: option({
      default: 'gmail.com,163.com,126.com,qq.com,outlook.com,hotmail.com,icloud.com,yahoo.com,foxmail.com',
      schema: domains,
      widget: 'tags',
      label: { zh: '允许的邮箱域名', en: 'Allowed email domains' },
      help: { zh: '完整的域名，子域名须单独列出。', en: 'Full domain names. List subdomains separately.' },
    }),
  },
)

export const smtp = section(
  {
    name: 'smtp',
    tab: 'system',
    label: { zh: '配置 SMTP', en: 'SMTP' },
    help: { zh: '用以支持系统的邮件发送。', en: 'The mail server that sends this site’s email.' },
    writer,
  },
  {
    SMTPServer: option({
      ...line(),
      label: { zh: 'SMTP 服务器地址', en: 'SMTP server' },
      help: { zh: '主机名，例如 smtp.qq.com。', en: 'Host name, e.g. smtp.gmail.com.' },
    }),
    SMTPPort: option({
      ...integer(587, { min: 1, max: 65_535 }),
      label: { zh: 'SMTP 端口', en: 'SMTP port' },
      help: { zh: '通常为 587；465 端口始终使用 TLS。', en: 'Usually 587. Port 465 always uses TLS.' },
    }),
    SMTPAccount: option({
      ...line(),
      label: { zh: 'SMTP 账户', en: 'SMTP account' },
      help: { zh: '登录邮件服务器的账户，通常是邮箱地址。', en: 'Username for the mail server, usually an email address.' },
    }),
    SMTPFrom: option({
      ...line(),
      label: { zh: 'SMTP 发送者邮箱', en: 'SMTP sender' },
      help: { zh: '发件人地址，留空则使用 SMTP 账户。', en: 'The From address. Leave blank to use the SMTP account.' },
    }),
    SMTPToken: option({
      ...secret(),
      label: { zh: 'SMTP 访问凭证', en: 'SMTP password' },
      help: { zh: '密码或授权码，保存后不再显示。', en: 'Password or app password. Never shown again after saving.' },
    }),
    SMTPSSLEnabled: option({
      ...toggle(false),
      label: { zh: '启用 SMTP SSL', en: 'Enable SMTP SSL' },
      help: { zh: '从连接开始即使用 TLS，而不是之后升级。', en: 'Uses TLS from the first byte instead of STARTTLS.' },
    }),
  },
)
