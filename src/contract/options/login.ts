import { option, section } from './define.ts'
import { address, line, link, secret, toggle } from './shapes.ts'

const writer = 'root'

export const login = section(
  { name: 'login', tab: 'system', label: { zh: '配置登录注册', en: 'Login and registration' }, writer },
  {
    PasswordLoginEnabled: option({
      ...toggle(true),
      label: { zh: '允许通过密码进行登录', en: 'Allow password login' },
      help: {
        zh: '关闭后，没有绑定其他登录方式的用户（包括管理员）将无法登录。',
        en: 'When off, users without another login method, including admins, cannot log in.',
      },
    }),
    PasswordRegisterEnabled: option({
      ...toggle(true),
      label: { zh: '允许通过密码进行注册', en: 'Allow registration with a password' },
      help: {
        zh: '关闭后，新用户只能通过第三方账户注册。',
        en: 'When off, new users can register only with a third-party account.',
      },
    }),
    EmailVerificationEnabled: option({
      ...toggle(false),
      label: { zh: '通过密码注册时需要进行邮箱验证', en: 'Require email verification for registration with a password' },
      help: { zh: '需要先配置 SMTP。', en: 'Requires the SMTP settings.' },
    }),
    RegisterEnabled: option({
      ...toggle(true),
      label: { zh: '允许新用户注册', en: 'Allow new users to register' },
      help: { zh: '关闭后，任何方式都无法注册新用户。', en: 'When off, new users cannot register by any method.' },
    }),
    GitHubOAuthEnabled: option({
      ...toggle(false),
      label: { zh: '允许通过 GitHub 账户登录和注册', en: 'Allow login and registration with GitHub' },
      help: { zh: '需要先填写 GitHub Client ID。', en: 'Requires the GitHub client ID.' },
    }),
    LinuxDOOAuthEnabled: option({
      ...toggle(false),
      label: { zh: '允许通过 LinuxDO 账户登录和注册', en: 'Allow login and registration with LinuxDO' },
      help: { zh: '需要先填写 LinuxDO Client ID。', en: 'Requires the LinuxDO client ID.' },
    }),
    WeChatAuthEnabled: option({
      ...toggle(false),
      label: { zh: '允许通过微信登录和注册', en: 'Allow login and registration with WeChat' },
      help: { zh: '需要先填写 WeChat Server 服务器地址。', en: 'Requires the WeChat server address.' },
    }),
    TelegramOAuthEnabled: option({
      ...toggle(false),
      label: { zh: '允许通过 Telegram 进行登录', en: 'Allow login with Telegram' },
      help: {
        zh: '需要先填写 Telegram Bot Token；用户须先在个人设置中绑定。',
        en: 'Requires the Telegram bot token. Users must first link their account in their settings.',
      },
    }),
    TurnstileCheckEnabled: option({
      ...toggle(false),
      label: { zh: '启用 Turnstile 用户校验', en: 'Enable Turnstile verification' },
      help: { zh: '需要先填写 Turnstile Site Key 和 Secret Key。', en: 'Requires the Turnstile site key and secret key.' },
    }),
  },
)

export const github = section(
  {
    name: 'github',
    tab: 'system',
    label: { zh: '配置 GitHub OAuth App', en: 'GitHub OAuth app' },
    help: {
      zh: '在 GitHub 中将 Homepage URL 填为服务器地址，Authorization callback URL 填为 {ServerAddress}/oauth/github。',
      en: 'In GitHub, set the homepage URL to the server address and the authorization callback URL to {ServerAddress}/oauth/github.',
    },
    writer,
  },
  {
    GitHubClientId: option({
      ...line(),
      label: { zh: 'GitHub Client ID', en: 'GitHub client ID' },
      help: { zh: 'OAuth App 的 Client ID。', en: 'Client ID of the OAuth app.' },
    }),
    GitHubClientSecret: option({
      ...secret(),
      label: { zh: 'GitHub Client Secret', en: 'GitHub client secret' },
      help: {
        zh: 'OAuth App 的 Client Secret，保存后不再显示。',
        en: 'Client secret of the OAuth app. Never shown again after saving.',
      },
    }),
  },
)

export const wechat = section(
  {
    name: 'wechat',
    tab: 'system',
    label: { zh: '配置 WeChat Server', en: 'WeChat server' },
    help: { zh: '用以支持通过微信公众号登录。', en: 'Lets users log in with a WeChat official account.' },
    writer,
  },
  {
    WeChatServerAddress: option({
      ...address(),
      label: { zh: 'WeChat Server 服务器地址', en: 'WeChat server address' },
      help: { zh: '把验证码换成微信用户的服务。', en: 'The service that exchanges a code for a WeChat user.' },
    }),
    WeChatServerToken: option({
      ...secret(),
      label: { zh: 'WeChat Server 访问凭证', en: 'WeChat server token' },
      help: { zh: '访问该服务的凭证，保存后不再显示。', en: 'Credential for that service. Never shown again after saving.' },
    }),
    WeChatAccountQRCodeImageURL: option({
      ...link(),
      label: { zh: '微信公众号二维码图片链接', en: 'QR code image URL' },
      help: { zh: '登录时显示的公众号二维码图片。', en: 'QR code of the official account, shown at login.' },
    }),
  },
)

export const telegram = section(
  {
    name: 'telegram',
    tab: 'system',
    label: { zh: '配置 Telegram 登录', en: 'Telegram login' },
    help: {
      zh: '须先在 BotFather 中将本站域名设为机器人的域名。',
      en: 'First register this site’s domain for the bot with BotFather.',
    },
    writer,
  },
  {
    TelegramBotToken: option({
      ...secret(),
      label: { zh: 'Telegram Bot Token', en: 'Telegram bot token' },
      help: { zh: '用于校验登录数据，保存后不再显示。', en: 'Verifies the login data. Never shown again after saving.' },
    }),
    TelegramBotName: option({
      ...line(),
      label: { zh: 'Telegram Bot 名称', en: 'Telegram bot name' },
      help: { zh: '登录按钮所用的机器人用户名。', en: 'Username of the bot, used by the login button.' },
    }),
  },
)

export const turnstile = section(
  {
    name: 'turnstile',
    tab: 'system',
    label: { zh: '配置 Turnstile', en: 'Turnstile' },
    help: { zh: '用以支持用户校验。', en: 'Verifies that visitors are human on public forms.' },
    writer,
  },
  {
    TurnstileSiteKey: option({
      ...line(),
      label: { zh: 'Turnstile Site Key', en: 'Turnstile site key' },
      help: { zh: '公开的站点密钥。', en: 'The public site key.' },
    }),
    TurnstileSecretKey: option({
      ...secret(),
      label: { zh: 'Turnstile Secret Key', en: 'Turnstile secret key' },
      help: {
        zh: '用于在服务器上校验结果，保存后不再显示。',
        en: 'Verifies results on the server. Never shown again after saving.',
      },
    }),
  },
)

export const linuxdo = section(
  {
    name: 'linuxdo',
    tab: 'system',
    label: { zh: '配置 LinuxDO OAuth', en: 'LinuxDO OAuth' },
    help: {
      zh: '在 LinuxDO 中将回调地址填为 {ServerAddress}/oauth/linuxdo。',
      en: 'In LinuxDO, set the callback URL to {ServerAddress}/oauth/linuxdo.',
    },
    writer,
  },
  {
    LinuxDOClientId: option({
      ...line(),
      label: { zh: 'LinuxDO Client ID', en: 'LinuxDO client ID' },
      help: { zh: '应用的 Client ID。', en: 'Client ID of the application.' },
    }),
    LinuxDOClientSecret: option({
      ...secret(),
      label: { zh: 'LinuxDO Client Secret', en: 'LinuxDO client secret' },
      help: {
        zh: '应用的 Client Secret，保存后不再显示。',
        en: 'Client secret of the application. Never shown again after saving.',
      },
    }),
  },
)

export const oidc = section(
  {
    name: 'oidc',
    tab: 'system',
    label: { zh: '配置 OIDC 登录', en: 'OpenID Connect' },
    help: {
      zh: '在 OIDC 服务中将回调地址填为 {ServerAddress}/oauth/oidc。',
      en: 'At the provider, set the redirect URI to {ServerAddress}/oauth/oidc.',
    },
    writer,
  },
  {
    'oidc.enabled': option({
      ...toggle(false),
      label: { zh: '允许通过 OIDC 登录和注册', en: 'Allow login and registration with OpenID Connect' },
      help: { zh: '需要先填写服务器地址和以下各项。', en: 'Requires the server address and the fields below.' },
    }),
    'oidc.display_name': option({
      ...line('', 40),
      label: { zh: '登录按钮名称', en: 'Login button label' },
      help: { zh: '留空则显示 OIDC。', en: 'Defaults to OIDC.' },
    }),
    'oidc.well_known': option({
      ...address(),
      label: { zh: 'Issuer 或发现文档地址', en: 'Issuer or discovery document URL' },
      help: {
        zh: '例如 https://id.example.com，或其 /.well-known/openid-configuration 地址。',
        en: 'E.g. https://id.example.com, or its URL ending in /.well-known/openid-configuration.',
      },
    }),
    'oidc.client_id': option({
      ...line(),
      label: { zh: 'OIDC Client ID', en: 'OIDC client ID' },
      help: { zh: '应用的 Client ID。', en: 'Client ID of the application.' },
    }),
    'oidc.client_secret': option({
      ...secret(),
      label: { zh: 'OIDC Client Secret', en: 'OIDC client secret' },
      help: {
        zh: '应用的 Client Secret，保存后不再显示。',
        en: 'Client secret of the application. Never shown again after saving.',
      },
    }),
  },
)
