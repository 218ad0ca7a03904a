import { afterAll, beforeAll, expect, it } from 'vitest'
import { addChannel, addToken } from '../helpers/seed.ts'
import { png, startTaskPeer, type TaskPeer } from '../helpers/task-peer.ts'
import { expectFit, go, inBothLanguages, looks, openStage, type Stage } from './stage.ts'

let stage: Stage
let peer: TaskPeer
let ids: { done: string; failed: string; running: string; song: string }
const sea = {
  title: 'Sea',
  audio_url: 'https://cdn.test/sea.mp3',
  video_url: 'https://cdn.test/sea.mp4',
  metadata: { prompt: 'waves in the night' },
}
const failReason = 'Banned prompt: blood'

beforeAll(async () => {
  ;[stage, peer] = await Promise.all([openStage(), startTaskPeer()])
  const { server } = stage
  const { db } = server.app
  Object.assign(server.app.upstream, { untrusted: anywhere })
  await addChannel(server, { url: peer.url, type: 2, models: 'mj_imagine', key: 'k' })
  await addChannel(server, { url: peer.url, type: 36, models: 'suno_music', key: 'k' })
  const token = await addToken(server)
  const order = async (path: string, body: object) => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { result, data } = (await response.json()) as { result?: string; data?: string }
    return result ?? data ?? ''
  }
  const draw = () => order('/mj/submit/imagine', { prompt: 'a lighthouse above a stormy sea, golden hour, wide angle --ar 16:9' })
  ids = {
    done: await draw(),
    failed: await draw(),
    running: await draw(),
    song: await order('/suno/submit/music', { prompt: 'x' }),
  }
  const set = (id: string, values: object) => db.updateTable('midjourneys').set(values).where('mj_id', '=', id).execute()
  const now = Date.now()
  await set(ids.done, { status: 'SUCCESS', progress: '100%', image_url: `${peer.url}/a.png`, finish_time: now + 42_000 })
  await set(ids.failed, { status: 'FAILURE', progress: '100%', fail_reason: failReason, finish_time: now + 90_000 })
  await set(ids.running, { status: 'IN_PROGRESS', progress: '47%' })
  const song = { status: 'SUCCESS', progress: '100%', finish_time: Math.floor(now / 1000) + 30, data: JSON.stringify([sea]) }
  await db.updateTable('tasks').set(song).execute()
  const seconds = Math.floor(now / 1000)
  const sold = { seconds: 8, resolution: '720p', sound: true, pieces: 2, size: '' }
  const film = {
    ...{ user_id: 1, channel_id: 1, action: 'TEXT', model: 'veo-3.1', prompt: 'a sluice', clip: JSON.stringify(sold) },
    // SQLite has no default for a column that another row of the insert names.
    ...{ delivered: 0, quota: 0, finish_time: 0, fail_reason: '', files_sealed: '' },
  }
  const files = [{ url: `${peer.url}/clip.mp4` }, { url: `${peer.url}/clip.mp4` }]
  const place = { table: 'videos', column: 'files_sealed', row: 'video_done' }
  await db
    .insertInto('videos')
    .values([
      {
        ...film,
        ...{ public_id: 'video_done', status: 'SUCCESS', progress: '100%', delivered: 2, quota: 500_000, submit_time: seconds },
        ...{ finish_time: seconds + 40, files_sealed: server.app.secrets.seal(JSON.stringify(files), place) },
      },
      { ...film, public_id: 'video_failed', status: 'FAILURE', progress: '100%', fail_reason: failReason, submit_time: seconds },
      { ...film, public_id: 'video_runs', status: 'IN_PROGRESS', progress: '40%', submit_time: seconds },
    ])
    .execute()
  peer.program = ({ path }) => (path.endsWith('.png') ? { bytes: png } : undefined)
})
afterAll(async () => {
  await stage.stop()
  await peer.stop()
})

const anywhere = {
  allows: () => true,
  allowsPort: () => true,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
}

const words = inBothLanguages({
  picture: ['查看图片', 'View image'],
  close: ['关闭', 'Close'],
  details: ['查看详情', 'Details'],
  id: ['任务 ID', 'Task ID'],
  off: ['未启用回调', 'Callbacks are off'],
  empty: ['还没有绘图任务', 'No drawings yet'],
  play: ['播放', 'Play'],
  video: ['视频', 'Video'],
  lyrics: ['歌词', 'Lyrics'],
  noVideos: ['还没有视频', 'No videos yet'],
  watch: ['播放 video_done', 'Play video_done'],
  ordered: ['8 秒 · 720p · 有声 × 2', '8 s · 720p · with sound × 2'],
  lost: ['视频无法加载', 'The clip could not be loaded'],
  download: ['下载', 'Download'],
})

it.each(
  looks([
    { language: 'en', scheme: 'dark' },
    { language: 'zh', scheme: 'light' },
  ] as const),
)(
  'in $language drawings are listed with progress, image and failure reason, and filtered by the address',
  async ({ language, scheme }) => {
    const { page, problems } = await stage.open('root', { language, scheme })
    const say = words[language]
    const data = [failReason, 'suno', 'Suno']
    await go(page, '/midjourney')
    await page.getByText(say.off).waitFor()
    const row = (id: string) => page.getByRole('row', { name: id })
    await row(ids.running).getByText('47%').waitFor()
    await expectFit(page, language, [...data, 'a lighthouse above a stormy sea, golden hour, wide angle --ar 16:9'])

    await row(ids.done).getByRole('button', { name: say.picture }).click()
    const picture = page.getByRole('dialog').locator('img')
    await picture.waitFor()
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1)
    expect(await picture.getAttribute('src')).toMatch(/^\/mj\/image\/\d+\?key=/)
    // A key enlarges the image.
    await page.getByRole('dialog').locator('[tabindex="0"]:has(img)').focus()
    await page.keyboard.press('+')
    await page.getByRole('dialog').getByText('140%').waitFor()
    await expectFit(page, language, [...data, 'a lighthouse above a stormy sea, golden hour, wide angle --ar 16:9'])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await row(ids.failed).getByRole('button', { name: failReason }).click()
    await page.getByRole('dialog').getByText(failReason).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: say.close }).last().click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await page.getByRole('searchbox', { name: say.id }).fill(ids.failed)
    await row(ids.running).waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('id')).toBe(ids.failed)
    await go(page, `/midjourney?status=SUCCESS`)
    await row(ids.done).waitFor()
    expect(await row(ids.failed).count()).toBe(0)

    await go(page, '/task')
    await row(ids.song).getByRole('button', { name: say.details }).click()
    await page.getByRole('dialog').getByText('"title": "Sea"').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    // Nothing is fetched from the upstream before it is played.
    const fetched: string[] = []
    await page.route('https://cdn.test/**', (route) => {
      fetched.push(route.request().url())
      return route.fulfill({ contentType: 'audio/mpeg', body: '' })
    })
    await row(ids.song).getByRole('button', { name: say.play }).click()
    const song = page.getByRole('dialog').getByRole('region', { name: 'Sea' })
    expect(await song.locator('audio').getAttribute('src')).toBe(sea.audio_url)
    expect(await song.getByRole('link', { name: say.video }).getAttribute('href')).toBe(sea.video_url)
    await song.getByText(say.lyrics).click()
    await song.getByText('waves in the night').waitFor()
    await expectFit(page, language, [...data, 'waves in the night'])
    expect(fetched).toEqual([])
    await song.locator('audio').evaluate((audio: HTMLAudioElement) => audio.play().catch(() => {}))
    expect(fetched).toEqual([sea.audio_url])
    await page.keyboard.press('Escape')
    expect(problems).toEqual([])
  },
)

it.each(
  looks([
    { language: 'zh', scheme: 'dark' },
    { language: 'en', scheme: 'light' },
  ] as const),
)('in $language videos are listed with what was ordered, and their clips open with their download', async (look) => {
  const { language } = look
  const { page, problems } = await stage.open('root', look)
  const say = words[language]
  await go(page, '/video')
  const row = (id: string) => page.getByRole('row', { name: id })
  await row('video_done').getByText(say.ordered).waitFor()
  await row('video_runs').getByText('40%').waitFor()
  await expectFit(page, language, [failReason, 'a sluice', 'Prompt'])
  expect(await row('video_failed').getByRole('button', { name: say.watch }).count()).toBe(0)
  await row('video_done').getByRole('button', { name: say.watch }).click()
  const dialog = page.getByRole('dialog')
  const load = dialog.getByRole('link', { name: say.download })
  await load.first().waitFor()
  expect(await load.count()).toBe(2)
  const path = /^\/v1\/videos\/video_done\/content\?key=\w+\.\w+/
  expect(await load.first().getAttribute('href')).toMatch(path)
  expect(await load.first().getAttribute('download')).toBe('video_done-1.mp4')
  // The picture that the upstream serves is no clip.
  await dialog.getByText(say.lost).first().waitFor()
  await expectFit(page, language, ['a sluice', 'Prompt'])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(problems.filter((problem) => !problem.includes('/content'))).toEqual([])
})

it('a user sees no rows of others, and neither the channel nor the submission', async () => {
  const { page, problems } = await stage.open('user', { language: 'en' })
  await go(page, '/midjourney')
  await page.getByText(words.en.empty).waitFor()
  expect(await page.getByText(words.en.off).count()).toBe(0)
  await expectFit(page, 'en')
  await go(page, '/video')
  await page.getByText(words.en.noVideos).waitFor()
  await expectFit(page, 'en')
  expect(problems).toEqual([])
})
