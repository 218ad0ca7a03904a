import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Text } from '../../src/contract/text.ts'
import { addChannel, addToken } from '../helpers/seed.ts'
import { sampled } from '../helpers/torture.ts'
import { everyLook, go, type Language, openStage, type Stage, type Who } from './stage.ts'

/** Every message that the console can show, and how it is provoked: here, or in a journey that reads it in the named file. */
interface Message {
  readonly message: string
  readonly text: Text
  readonly here?: { readonly who?: Who; provoke(ground: Ground): Promise<unknown> }
  readonly journey?: string
}

interface Ground {
  readonly page: Page
  readonly language: Language
  readonly pick: (zh: string, en: string) => string
  readonly press: (zh: string, en: string) => Promise<void>
  readonly fill: (zh: string, en: string, text: string) => Promise<void>
  /** Makes the calls of an address return this JSON, or fail with the status 500. */
  readonly breakCall: (address: string, json?: object) => Promise<unknown>
}

let stage: Stage
const model = 'gpt-4o'
const limited = 'gpt-4o-mini'
beforeAll(async () => {
  stage = await openStage()
  await addChannel(stage.server, { url: stage.upstream.url, models: `${model},${limited}` })
  // No server listens there.
  await option('ReleaseFeedUrl', 'http://127.0.0.1:9/releases/latest')
  stage.upstream.program(limited, { status: 429 })
})
afterAll(() => stage.stop())

async function option(key: string, value: string): Promise<void> {
  await stage.server.call('PUT /api/option/', { key, value })
}

/** The error message for a client of the relay, always in English, because programs read it. */
async function relayed(key: string, asked: string): Promise<string> {
  const response = await fetch(`${stage.server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: asked, messages: [{ role: 'user', content: 'hello' }] }),
  })
  return response.text()
}

/** Shows a text of the relay in the page, so that one check covers it and the messages of the console. */
async function show(page: Page, text: string): Promise<void> {
  await page.setContent(`<pre>${text.replaceAll('<', '&lt;')}</pre>`)
}

const ofRelay = (keyOf: () => Promise<string>, asked = model): Message['here'] => ({
  provoke: async ({ page }) => show(page, await relayed(await keyOf(), asked)),
})

const ofRelayText = (en: string): Text => ({ zh: en, en })

const catalogue: readonly Message[] = [
  {
    message: '401: login expired',
    text: { zh: '未登录或登录已过期，请重新登录', en: 'Not logged in or login has expired, please log in again' },
    journey: 'screens.test.ts',
  },
  {
    message: '429',
    text: { zh: '请求次数过多，请稍后再试', en: 'Too many requests, try again later' },
    journey: 'messages.test.ts',
  },
  {
    message: '500',
    text: { zh: '服务器内部错误，请联系管理员', en: 'Internal server error, contact the admin' },
    journey: 'messages.test.ts',
  },
  {
    message: '405',
    text: { zh: '本站仅用于演示，无服务端', en: 'This site is demo only, no server' },
    journey: 'messages.test.ts',
  },
  { message: 'any other', text: { zh: '错误：teapot', en: 'Error: teapot' }, journey: 'messages.test.ts' },

  {
    message: 'user created',
    text: { zh: '用户账户创建成功！', en: 'User created' },
    here: {
      async provoke({ page, language, fill, press }) {
        await go(page, '/user/add')
        await fill('用户名', 'Username', `made-${language}`)
        await fill('密码', 'Password', 'plain-person-1')
        await press('提交', 'Submit')
      },
    },
  },
  {
    message: 'user updated',
    text: { zh: '用户信息更新成功！', en: 'User updated' },
    here: {
      async provoke({ page, language, fill, press }) {
        await go(page, '/user/edit/2')
        await fill('显示名称', 'Display name', `Shown ${language}`)
        await press('提交', 'Submit')
      },
    },
  },
  {
    message: 'operation done',
    text: { zh: '操作成功完成！', en: 'Operation completed' },
    here: {
      async provoke({ page, pick, press }) {
        await go(page, '/user?keyword=admin')
        await page.getByRole('button', { name: pick('更多操作: admin', 'More actions: admin') }).click()
        await page.getByRole('menuitem', { name: pick('退出所有登录', 'Log out all sessions') }).click()
        await page.getByRole('dialog').waitFor()
        await press('退出所有登录', 'Log out all sessions')
      },
    },
  },
  { message: 'login succeeded', text: { zh: '登录成功！', en: 'Logged in' }, journey: 'stage.ts' },
  { message: 'registration succeeded', text: { zh: '注册成功！', en: 'Account created' }, journey: 'accounts.test.ts' },
  {
    message: 'code sent (check mailbox)',
    text: { zh: '验证码发送成功，请检查你的邮箱！', en: 'Code sent. Check your inbox.' },
    journey: 'accounts.test.ts',
  },
  {
    message: 'token reset and copied',
    text: { zh: '令牌已重置并已复制到剪贴板', en: 'Token generated and copied to the clipboard' },
    here: {
      async provoke({ page, press }) {
        await page.context().grantPermissions(['clipboard-write'])
        await go(page, '/setting')
        await press('生成系统访问令牌', 'Generate token')
        await page.getByRole('dialog').waitFor()
        await page
          .getByRole('dialog')
          .getByRole('button', { name: /生成系统访问令牌|Generate token/ })
          .click()
      },
    },
  },
  {
    message: 'invite link copied',
    text: { zh: '邀请链接已复制到剪贴板', en: 'Invite link copied to the clipboard' },
    here: {
      async provoke({ page, press }) {
        await page.context().grantPermissions(['clipboard-write'])
        await go(page, '/setting')
        await press('复制', 'Copy')
      },
    },
  },
  {
    message: 'system token copied',
    text: { zh: '已复制到剪贴板', en: 'Copied to clipboard' },
    here: {
      async provoke({ page, pick }) {
        await page.context().grantPermissions(['clipboard-write'])
        await page.route('**/api/user/token', (route) => route.fulfill({ json: { success: true, message: '', data: 'made' } }))
        await go(page, '/setting')
        const make = page.getByRole('button', { name: pick('生成系统访问令牌', 'Generate token') })
        await make.click()
        await page.getByRole('dialog').getByRole('button').last().click()
        await page.getByRole('button', { name: pick('复制: 系统访问令牌', 'Copy: System access token') }).click()
      },
    },
  },
  {
    message: 'WeChat bound',
    text: { zh: '微信账户绑定成功！', en: 'WeChat account linked' },
    here: {
      async provoke({ page, pick, breakCall, fill, press }) {
        await option('WeChatServerAddress', 'https://wechat.test')
        await option('WeChatServerToken', 'secret')
        await option('WeChatAuthEnabled', 'true')
        await breakCall('**/api/oauth/wechat/bind', { success: true, message: '', data: null })
        await go(page, '/setting')
        await page.getByRole('button', { name: pick('绑定: 微信', 'Link: WeChat') }).click()
        await page.getByRole('dialog').waitFor()
        await fill('验证码', 'Code', '123456')
        await press('绑定', 'Link')
      },
    },
  },
  { message: 'email bound', text: { zh: '邮箱账户绑定成功！', en: 'Email address saved' }, journey: 'accounts.test.ts' },
  { message: 'password changed', text: { zh: '密码修改成功！', en: 'Password changed' }, journey: 'screens.test.ts' },
  { message: 'account deleted', text: { zh: '账户已注销！', en: 'Account deleted' }, journey: 'accounts.test.ts' },
  {
    message: 'notification settings updated',
    text: { zh: '通知设置已更新', en: 'Notification settings updated' },
    journey: 'accounts.test.ts',
  },
  { message: 'save succeeded', text: { zh: '保存成功', en: 'Saved' }, journey: 'messages.test.ts' },
  { message: 'N logs cleaned', text: { zh: '已清理 2 条日志！', en: '2 logs deleted' }, journey: 'statistics.test.ts' },
  {
    message: 'added',
    text: { zh: '添加成功，点击“应用更改”后生效', en: 'Model added. Click “Apply changes” to save it.' },
    here: {
      async provoke({ page, press }) {
        await go(page, '/setting?tab=prices')
        await press('添加模型', 'Add model')
        const dialog = page.getByRole('dialog')
        await dialog.getByRole('textbox').first().fill('brand-new-model')
        await dialog.getByRole('textbox').nth(1).fill('2')
        await dialog.getByRole('button').last().click()
      },
    },
  },
  {
    message: 'already latest version',
    text: { zh: '已是最新版本：9.9', en: 'You are running the latest version, 9.9' },
    here: {
      async provoke({ page, breakCall, press }) {
        const release = { current: '9.9', latest: '9.9', is_newer: false, title: '', notes: '', url: '' }
        await breakCall('**/api/system/update', { success: true, message: '', data: release })
        await go(page, '/setting?tab=other')
        await press('检查更新', 'Check for updates')
      },
    },
  },

  {
    message: 'partial save failure (retry)',
    text: { zh: '部分保存失败，请重试', en: 'Some changes could not be saved. Try again.' },
    here: { provoke: (ground) => saveTwo(ground, 1) },
  },
  {
    message: 'save failed (retry)',
    text: { zh: '保存失败，请重试', en: 'Could not save. Try again.' },
    here: { provoke: (ground) => saveTwo(ground, 2) },
  },
  {
    message: 'log cleanup failed',
    text: { zh: '日志清理失败', en: 'Log cleanup failed' },
    here: {
      async provoke({ page, breakCall, press }) {
        await breakCall('**/api/log/purge')
        await go(page, '/log')
        await press('清理日志', 'Clean up logs')
        const clean = () => page.getByRole('dialog').last().getByRole('button').last().click()
        await page.getByRole('dialog').waitFor()
        await clean()
        await page.getByRole('dialog').nth(1).waitFor()
        await clean()
      },
    },
  },
  {
    message: 'check update failed',
    text: { zh: '检查更新失败', en: 'Failed to check for updates' },
    here: {
      async provoke({ page, press }) {
        await go(page, '/setting?tab=other')
        await press('检查更新', 'Check for updates')
      },
    },
  },
  { message: 'check input', text: { zh: '请检查输入', en: 'Check your input' }, journey: 'messages.test.ts' },
  {
    message: 'failed to get enabled models',
    text: { zh: '获取已启用的模型失败', en: 'Failed to load the enabled models' },
    here: {
      async provoke({ page, breakCall }) {
        await breakCall('**/api/pricing/models')
        await page.goto('/setting?tab=prices&view=unset')
      },
    },
  },
  {
    message: 'update notification settings failed',
    text: { zh: '更新通知设置失败', en: 'Failed to update notification settings' },
    here: {
      async provoke({ page, breakCall, press }) {
        await breakCall('**/api/user/setting')
        await go(page, '/setting')
        await press('保存设置', 'Save settings')
      },
    },
  },
  {
    message: 'token expiry format error',
    text: { zh: '过期时间格式错误！', en: 'Invalid expiry format' },
    here: {
      async provoke({ page, fill, press }) {
        await go(page, '/token')
        await page
          .getByRole('button', { name: /^(添加令牌|Create token)/ })
          .first()
          .click()
        await page.getByRole('dialog').waitFor()
        await fill('名称', 'Name', 'for a while')
        await fill('过期时间', 'Expires', 'next Tuesday')
        await press('提交', 'Submit')
      },
    },
  },
  {
    message: 'duplicate submit error when models is not a list',
    text: {
      zh: '提交失败，请勿重复提交！模型不是列表，请先更正。',
      en: 'Not submitted: the models are not a valid list. Correct them and submit again.',
    },
    here: {
      async provoke({ page, fill, press }) {
        await go(page, '/channel/add')
        await fill('输入自定义模型名称，用逗号分隔', 'Custom model names, comma-separated', '{"model": "gpt-4o"}')
        await press('提交', 'Submit')
      },
    },
  },
  {
    message: 'chat data parse failure',
    text: { zh: '聊天数据解析失败', en: 'Failed to parse the chat data' },
    here: {
      async provoke({ page, breakCall }) {
        await breakCall('**/api/status', { success: true, message: '', data: { chats: {} } })
        await go(page, '/about')
      },
    },
  },
  {
    message: 'chat link config error',
    text: { zh: '聊天链接配置错误，请联系管理员', en: 'The chat link is misconfigured. Contact the admin.' },
    journey: 'chat.test.ts',
  },
  {
    message: 'copy failure dialog',
    text: { zh: '无法复制到剪贴板，请手动复制', en: 'Could not copy to the clipboard. Copy it manually.' },
    journey: 'messages.test.ts',
  },
  {
    message: 'default-password warning',
    text: { zh: '您正在使用默认密码！', en: 'You are using the default password' },
    journey: 'screens.test.ts',
  },
  {
    message: 'no chat link',
    text: { zh: '无聊天链接，请联系管理员配置', en: 'No chat link is configured. Contact the admin.' },
    journey: 'chat.test.ts',
  },
  {
    message: 'no recharge link',
    text: { zh: '超级管理员未设置充值链接！', en: 'The super admin has not set a recharge link' },
    here: {
      async provoke({ page, press }) {
        await go(page, '/topup')
        await press('获取兑换码', 'Get a code')
      },
    },
  },
  {
    message: 'online top-up disabled',
    text: { zh: '管理员未开启在线充值！', en: 'The admin has not enabled online top-up' },
    here: { provoke: ({ page }) => go(page, '/topup') },
  },

  { message: 'insufficient quota', text: { zh: '用户额度不足', en: 'Insufficient quota' }, journey: 'messages.test.ts' },
  {
    message: 'invalid token',
    text: ofRelayText('The API key is invalid'),
    here: ofRelay(async () => 'sk-nothing'),
  },
  {
    message: 'expired token',
    text: ofRelayText('This API key has expired'),
    here: ofRelay(async () => {
      const { id, key } = await addToken(stage.server)
      await stage.server.app.db.updateTable('tokens').set({ expired_time: 1_700_000_000 }).where('id', '=', id).execute()
      return key
    }),
  },
  {
    message: 'exhausted token',
    text: ofRelayText('The quota of this API key is exhausted'),
    here: ofRelay(async () => (await addToken(stage.server, { unlimited_quota: false, remain_quota: 0 })).key),
  },
  {
    message: 'invalid redemption code',
    text: { zh: '无效的兑换码', en: 'The redemption code is invalid' },
    here: {
      who: 'user',
      async provoke({ page, fill, press }) {
        await go(page, '/topup')
        await fill('兑换码', 'Redemption code', 'no such code')
        await press('兑换', 'Redeem')
      },
    },
  },
  { message: 'redemption code used', text: { zh: '该兑换码已被使用', en: '' }, journey: 'money-in.test.ts' },
  {
    message: 'registration closed',
    text: { zh: '管理员关闭了新用户注册', en: 'Registration is closed' },
    here: {
      who: 'nobody',
      async provoke({ page }) {
        await option('RegisterEnabled', 'false')
        await go(page, '/register')
        await option('RegisterEnabled', 'true')
      },
    },
  },
  {
    message: 'password login disabled',
    text: { zh: '管理员关闭了密码登录', en: 'Password login is disabled' },
    here: {
      who: 'nobody',
      async provoke({ page, language, fill }) {
        await go(page, '/login')
        await option('PasswordLoginEnabled', 'false')
        await fill('用户名/邮箱', 'Username or email', `nobody-${language}`)
        await fill('密码', 'Password', 'plain-person-1')
        const answered = page.waitForResponse('**/api/user/login')
        await page.getByRole('main').locator('button[type=submit]').click()
        await answered
        await option('PasswordLoginEnabled', 'true')
      },
    },
  },
  {
    message: 'verification code wrong or expired',
    text: { zh: '验证码错误或已过期', en: 'The verification code is wrong or has expired' },
    journey: 'accounts.test.ts',
  },
  {
    message: 'reset link invalid or expired',
    text: { zh: '', en: 'The reset link is invalid or has expired' },
    journey: 'accounts.test.ts',
  },
  { message: 'human check failed', text: { zh: '', en: 'The human check failed, try again' }, journey: 'accounts.test.ts' },
  {
    message: 'no available channels',
    text: ofRelayText('No available channel for model'),
    here: ofRelay(async () => (await addToken(stage.server)).key, 'gpt-4'),
  },
  {
    message: 'upstream group load saturated',
    text: ofRelayText('The upstream of this group is saturated (rate limit reached), try again later'),
    here: ofRelay(async () => (await addToken(stage.server)).key, limited),
  },
]

/** Saves two settings, of which some are refused. */
async function saveTwo({ page, pick, fill, language }: Ground, refusals: number): Promise<void> {
  await go(page, '/setting?tab=other')
  await fill('系统名称', 'System name', `Sluice ${refusals} ${language}`)
  await fill('页脚', 'Footer', `footer ${refusals} ${language}`)
  let left = refusals
  await page.route('**/api/option/', (route) => {
    const isRefused = route.request().method() === 'PUT' && left-- > 0
    return isRefused ? route.fulfill({ status: 500 }) : route.fallback()
  })
  await page
    .getByRole('main')
    .getByRole('button', { name: pick('保存', 'Save'), exact: true })
    .click()
}

const languages = ['zh', 'en'] as const

const here = catalogue.filter((entry) => entry.here)

describe('every message of the catalogue', () => {
  it('occurs in a journey, if it is not provoked here', () => {
    for (const { message, text, journey } of catalogue.filter((entry) => !entry.here)) {
      const source = journey ? readFileSync(new URL(journey, import.meta.url), 'utf8') : ''
      const isRead = [text.zh, text.en].some((words) => words !== '' && source.includes(words))
      expect(isRead, message).toBe(true)
    }
  })

  // The ordinary run takes some of each kind, in alternating languages; the heavy run takes all in both.
  it.each(languages)('is shown in %s when it is provoked', async (language) => {
    const pages = new Map<Who, Page>()
    const missing: string[] = []
    for (const [nth, entry] of sampled(here, 3, 2).entries()) {
      if (!everyLook && languages[nth % 2] !== language) continue
      const { who = 'root', provoke } = entry.here ?? {}
      const page = pages.get(who) ?? (await stage.open(who, { language })).page
      pages.set(who, page)
      await page.unrouteAll()
      try {
        await provoke?.(groundOf(page, language))
        await page.getByText(entry.text[language]).first().waitFor()
      } catch (cause) {
        missing.push(`${entry.message}: ${cause}`)
      }
    }
    expect(missing).toEqual([])
  })
})

function groundOf(page: Page, language: Language): Ground {
  const pick = (zh: string, en: string) => (language === 'zh' ? zh : en)
  return {
    page,
    language,
    pick,
    press: (zh, en) =>
      page
        .getByRole('button', { name: pick(zh, en), exact: true })
        .last()
        .click(),
    fill: (zh, en, value) =>
      page
        .getByRole('textbox', { name: pick(zh, en), exact: true })
        .last()
        .fill(value),
    breakCall: (address, json) => page.route(address, (route) => route.fulfill(json ? { json } : { status: 500 })),
  }
}
