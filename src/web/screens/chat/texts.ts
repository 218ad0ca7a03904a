import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts({
  title: ['聊天', 'Chat'],
  uses: [
    '使用令牌“{name}”。此页面由第三方提供，令牌的密钥会交给它。',
    'Uses the token “{name}”. This page is operated by a third party and receives the token’s key.',
  ],
  openBeside: ['在新标签页中打开', 'Open in a new tab'],
  openProgram: ['打开应用', 'Open app'],
  program: ['“{name}”是一个应用，需在应用中打开', '“{name}” is an app that opens in its own window'],
  notFramed: ['“{name}”不支持加密连接，不能嵌入此处', '“{name}” does not use HTTPS and cannot be embedded in this page'],
  broken: ['聊天链接配置错误，请联系管理员', 'The chat link is misconfigured. Contact the admin.'],
  notConfigured: ['无聊天链接，请联系管理员配置', 'No chat link is configured. Contact the admin.'],
  askHint: ['也可以使用操练场直接对话。', 'You can also chat in the playground.'],
  configureHint: [
    '在“设置 → 运营设置 → 令牌聊天设置”中填写聊天链接。',
    'Add chat links under Settings › Operation › Chat settings.',
  ],
  configure: ['前往设置', 'Open settings'],
  noToken: ['没有可用的令牌，请先创建或启用一个令牌！', 'No enabled token. Create or enable one first.'],
  leading: ['即将前往令牌页面…', 'Redirecting to tokens…'],
  toTokens: ['前往令牌', 'Go to tokens'],
  redirecting: ['正在跳转……', 'Redirecting…'],
  redirectNow: ['立即前往', 'Go now'],
})
