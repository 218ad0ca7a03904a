import { defineTexts } from '../../lib/i18n.ts'

/** Texts of the other login methods, and of the second factor. */
export const entryTexts = defineTexts({
  thirdParty: ['其他登录方式', 'Other login methods'],
  passkey: ['使用通行密钥登录', 'Log in with a passkey'],
  continueWith: ['使用 {name} 登录', 'Continue with {name}'],
  continueWithWechat: ['使用微信登录', 'Continue with WeChat'],
  wechatTitle: ['微信扫码登录', 'Log in with WeChat'],
  wechatHint: [
    '请使用微信扫描二维码关注公众号，输入“验证码”获取验证码（三分钟内有效）。',
    'Scan the QR code with WeChat, follow the account, and message it for a verification code. The code is valid for three minutes.',
  ],
  wechatQr: ['公众号二维码', 'QR code of the official account'],
  wechatSubmit: ['登录', 'Log in'],
  telegramTitle: ['使用 Telegram 登录', 'Log in with Telegram'],
  telegramHint: ['点击下方按钮，在 Telegram 中确认。', 'Click the button below and confirm in Telegram.'],
  telegramFailed: [
    '无法加载 Telegram 登录组件，请检查网络后重试。',
    'The Telegram button could not be loaded. Check the network and try again.',
  ],
  success: ['登录成功！', 'Logged in'],
  bound: ['绑定成功！', 'Account linked'],
  processing: ['处理中…', 'Processing…'],
  callbackFailed: ['操作失败，重定向至登录界面中…', 'The operation failed, redirecting to login…'],
  denied: ['你取消了授权', 'You denied access'],
  secondTitle: ['两步验证', 'Two-factor authentication'],
  secondHint: [
    '请输入身份验证器应用中的 6 位验证码；手机不在身边时，可输入一个备用验证码。',
    'Enter the 6-digit code from your authenticator app. If you do not have your phone, enter a backup code.',
  ],
  code: ['验证码', 'Code'],
  codeMissing: ['请输入验证码', 'Enter the code'],
  secondSubmit: ['验证并登录', 'Verify and log in'],
  back: ['返回登录', 'Back to login'],
  organisationLogin: ['通过组织登录', 'Log in with your organisation'],
  organisationTitle: ['组织登录', 'Organisation login'],
  organisationHint: [
    '输入工作邮箱或组织名称，即可前往组织的登录页面。',
    'Enter your work email or the name of your organisation to go to its login page.',
  ],
  organisationName: ['工作邮箱或组织名称', 'Work email or organisation'],
  organisationMissing: ['请输入工作邮箱或组织名称', 'Enter your work email or the name of your organisation'],
  continue: ['继续', 'Continue'],
})
