import { role } from '../../src/contract/roles.ts'
import { jobNamed } from '../../src/server/watch/jobs/table.ts'
import type { TestServer } from '../helpers/app.ts'
import { addChannel, addToken } from '../helpers/seed.ts'
import type { FakeUpstream } from '../helpers/upstream.ts'

const models = ['gpt-4o', 'gpt-4o-mini', 'claude-3-5-sonnet-20241022', 'gemini-2.0-flash', 'deepseek-chat', 'unpriced-model']
const channels = [
  { name: 'OpenAI 主力', type: 1, tag: '主力', priority: 10, weight: 3 },
  { name: 'OpenAI backup', type: 1, tag: '主力', priority: 5 },
  { name: 'Claude', type: 14, priority: 8 },
  { name: 'Gemini', type: 24, tag: 'vendors' },
  { name: 'DeepSeek', type: 43, tag: 'vendors' },
  { name: 'Ollama 内网', type: 4 },
]

/** User-defined texts, in any language. */
export const seededWords: readonly string[] = [
  ...[
    ...channels.map(({ name }) => name),
    '主力',
    '只读脚本',
    '试用额度',
    '开业活动',
    'a lighthouse in fog',
    '雾中的灯塔',
    '城市夜景',
    ...['算术', '391', '上游限流', '正在与上游核实。', '研发额度'],
  ],
  'What does a sluice do when the water rises?',
  // Some rows of the log are stored in both languages.
  ...['管理员调整额度', 'Quota changed by an admin'],
]

/**
 * A site as it is after some days of use: users, channels, tokens, codes, calls and admin actions, made by the product's own calls.
 */
export async function seedSite({
  server,
  upstream,
}: {
  server: TestServer
  upstream: FakeUpstream
}): Promise<{ channel: number }> {
  const { call } = server
  const ids: number[] = []
  for (const { name, ...channel } of channels)
    ids.push(await addChannel(server, { url: upstream.url, models: models.join(','), name, ...channel }))
  await call('PUT /api/channel/', { id: ids[5], status: 2 })

  const token = await addToken(server, { name: 'production' })
  await addToken(server, { name: '只读脚本', unlimited_quota: false, remain_quota: 2_500_000, expired_time: 1_893_456_000 })
  const limited = { model_limits_enabled: true, model_limits: 'gpt-4o-mini', allow_ips: '10.0.0.0/8' }
  const { id } = await addToken(server, { name: 'laptop', ...limited })
  await call('PUT /api/token/?status_only=true', { id, status: 2 })

  for (const username of ['carol', 'dave', 'erin', 'frank'])
    await call('POST /api/user/', { username, display_name: '', password: 'longpassword' })
  const people = await call<{ items: { id: number; username: string; role: number }[] }>('GET /api/user/?page_size=100')
  for (const person of people.items.filter((one) => one.role < role.root))
    await call(`POST /api/user/${person.id}/quota`, { change: 5_000_000, reason: '试用额度' })
  const dave = people.items.find(({ username }) => username === 'dave')
  if (dave) await call('POST /api/user/manage', { id: dave.id, action: 'disable' })

  await call('POST /api/redemption/', { name: '开业活动', quota: 500_000, count: 12 })
  const [code] = await call<string[]>('POST /api/redemption/', { name: 'welcome', quota: 1_000_000, count: 1 })
  await call('POST /api/user/topup', { key: code })
  await call('PUT /api/option/', { key: 'RetryTimes', value: '2' })

  for (const [index, model] of [...models, ...models, ...models].entries())
    await ask(server, { key: token.key, model, stream: index % 2 === 0 })
  await addTasks(server)
  await addTraces(server)
  const [channel = 1] = ids
  await addWatch(server, { channel, token: token.id })
  return { channel }
}

/** Adds what an admin monitors: a quality check that has run on one channel, an incident and budgets. */
async function addWatch({ app, call }: TestServer, { channel, token }: { channel: number; token: number }): Promise<void> {
  const expectations = [{ kind: 'contains', value: '391' }]
  const check = { name: '算术', models: ['gpt-4o-mini'], channels: [channel], prompt: 'What is 17 * 23?', expectations }
  const { id } = await call<{ id: number }>('POST /api/quality_check/', { ...check, enabled: false })
  await call(`POST /api/quality_check/${id}/run`)
  await jobNamed('run-quality-checks').run(app, new AbortController().signal, () => {})
  const incident = { kind: 'incident', state: 'investigating', impact: 'degraded', models: ['gpt-4o'] }
  await call('POST /api/incident/', { ...incident, title: '上游限流', message: '正在与上游核实。' })
  await call('POST /api/budget/', {
    scope: 'user',
    subject: '1',
    name: '研发额度',
    period: 'day',
    amount: 5_000_000,
    shares: [80],
  })
  await call('POST /api/budget/', { scope: 'token', subject: String(token), period: 'month', amount: 2_500_000, is_hard: false })
}

/** Calls a model as a program does. */
export async function ask(
  { url }: TestServer,
  { key, model, stream }: { key: string; model: string; stream: boolean },
): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'What does a sluice do when the water rises?' }] }),
  })
  await response.text()
}

/** Data that only days of use, mails and a payment provider would create. */
async function addTraces({ app: { db, now } }: TestServer): Promise<void> {
  const at = Math.floor(now() / 1000)
  await db
    .updateTable('users')
    .set({ email: 'carol@example.com', aff_count: 2, aff_history_quota: 1_500_000 })
    .where('username', '=', 'carol')
    .execute()
  for (const [id, response_time] of [380, 1240, 2900, 6100].entries())
    await db
      .updateTable('channels')
      .set({ response_time, test_time: at - 600 })
      .where('id', '=', id + 1)
      .execute()
  const order = {
    user_id: 1,
    provider: 'epay',
    method: 'alipay',
    currency: 'CNY',
    amount: 10,
    quota: 5_000_000,
    money_minor: 7300,
    created_time: at - 7200,
  }
  await db
    .insertInto('top_ups')
    .values(
      (['success', 'pending', 'expired', 'flagged'] as const).map((status, nth) => ({
        ...order,
        status,
        trade_no: `USR1NO${at - nth}`,
        completed_time: status === 'success' ? at - 7000 : 0,
      })),
    )
    .execute()
}

/** Drawing and music tasks as their upstreams would have left them, since no test upstream speaks their protocols. */
async function addTasks({ app: { db, now } }: TestServer): Promise<void> {
  const ms = now()
  const unfinished = { fail_reason: '', progress: '', finish_time: 0 }
  const drawing = { user_id: 1, channel_id: 1, code: 1, prompt_en: 'a lighthouse in fog', quota: 50_000, ...unfinished }
  await db
    .insertInto('midjourneys')
    .values([
      {
        ...drawing,
        action: 'IMAGINE',
        mj_id: '1700000000000001',
        prompt: '雾中的灯塔',
        status: 'SUCCESS',
        progress: '100%',
        submit_time: ms - 90_000,
        finish_time: ms - 30_000,
      },
      {
        ...drawing,
        action: 'UPSCALE',
        mj_id: '1700000000000002',
        prompt: '雾中的灯塔',
        status: 'IN_PROGRESS',
        progress: '47%',
        submit_time: ms - 20_000,
      },
      {
        ...drawing,
        action: 'IMAGINE',
        mj_id: '1700000000000003',
        prompt: '城市夜景',
        status: 'FAILURE',
        fail_reason: 'banned prompt',
        submit_time: ms - 200_000,
      },
    ])
    .execute()
  const at = Math.floor(ms / 1000)
  const song = {
    user_id: 1,
    channel_id: 1,
    platform: 'suno',
    created_at: at - 60,
    updated_at: at,
    quota: 50_000,
    submit_time: at - 60,
    ...unfinished,
  }
  await db
    .insertInto('tasks')
    .values([
      { ...song, task_id: 'a1b2c3d4', action: 'MUSIC', status: 'SUCCESS', progress: '100%', finish_time: at - 10 },
      { ...song, task_id: 'e5f6a7b8', action: 'LYRICS', status: 'IN_PROGRESS', progress: '30%' },
    ])
    .execute()
  const clip = (more: object) => JSON.stringify({ seconds: 8, resolution: '720p', sound: true, pieces: 1, size: '', ...more })
  const film = {
    user_id: 1,
    channel_id: 1,
    action: 'TEXT',
    model: 'veo-3.1-generate-preview',
    prompt: '雾中的灯塔',
    quota: 1_600_000,
    // SQLite has no default for a column that another row of the insert names.
    ...{ delivered: 0, finish_time: 0, fail_reason: '' },
  }
  await db
    .insertInto('videos')
    .values([
      {
        ...film,
        ...{ public_id: 'video_a1', clip: clip({}), status: 'SUCCESS', progress: '100%', delivered: 1 },
        ...{ submit_time: at - 120, finish_time: at - 30 },
      },
      { ...film, public_id: 'video_b2', clip: clip({ pieces: 2 }), status: 'IN_PROGRESS', progress: '40%', submit_time: at - 60 },
      {
        ...film,
        ...{ public_id: 'video_c3', clip: clip({ resolution: '4k' }), status: 'FAILURE', progress: '100%' },
        ...{ submit_time: at - 300, finish_time: at - 200, fail_reason: '451' },
      },
    ])
    .execute()
}
