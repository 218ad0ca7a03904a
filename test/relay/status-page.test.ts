import { describe, expect, it } from 'vitest'
import type { AdminIncident } from '../../src/contract/entities/incident.ts'
import type { StatusPage } from '../../src/contract/entities/status-page.ts'
import { probeModels } from '../../src/server/watch/status-page/probes.ts'
import type { TestServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { chat, model, stage } from './stage.ts'

const guest = (server: TestServer, path = '/api/status_page/') => fetch(server.url + path)

async function pageOf(server: TestServer): Promise<StatusPage> {
  await server.app.callStatistics.flush()
  server.app.statusSnapshots.forget()
  return server.call<StatusPage>('GET /api/status_page/')
}

async function pageOfGuest(server: TestServer): Promise<StatusPage> {
  server.app.statusSnapshots.forget()
  return ((await (await guest(server)).json()) as { data: StatusPage }).data
}

const modelIn = (page: StatusPage, group: string, name = model) =>
  page.groups.find((each) => each.name === group)?.models.find((each) => each.name === name)

const probe = (server: TestServer) => probeModels(server.app, new AbortController().signal, () => {})

eachDatabase('the status page', (_fresh, kind) => {
  it('shows the success of real calls by day, without mistakes of callers, and grey for days without calls', async () => {
    const upstream = await upstreamOfTest()
    const { server, ask } = await stage(kind, upstream.url, { channel: { models: `${model},gpt-4o` } })
    for (let index = 0; index < 3; index++) expect((await ask(chat())).status).toBe(200)
    upstream.program('*', { status: 400 })
    expect((await ask(chat())).status).toBe(400)
    upstream.program('*', { status: 503 })
    await ask(chat())
    const page = await pageOf(server)

    const shown = modelIn(page, 'default')
    expect(shown).toMatchObject({ share: 0.75, state: 'degraded' })
    expect(shown?.days).toEqual([...Array(89).fill(null), 0.75])
    expect(modelIn(page, 'default', 'gpt-4o')).toMatchObject({ share: null, state: 'unknown', days: Array(90).fill(null) })
    const rows = await server.app.db
      .selectFrom('call_sums')
      .select(['count', 'answered', 'failed'])
      .where('side', '=', 'offer')
      .where('span', '=', 86_400)
      .execute()
    expect(rows).toEqual([{ count: 5, answered: 3, failed: 1 }])
    expect(JSON.stringify(page)).not.toMatch(/count|"calls"|127\.0\.0\.1/)
  })

  it('shows a model whose channels were all disabled as an outage, and counts the calls that it refused', async () => {
    const upstream = await upstreamOfTest()
    const { server, ask, channelId } = await stage(kind, upstream.url)
    await server.app.db.updateTable('channels').set({ status: 3 }).where('id', '=', channelId).execute()
    await server.app.channels.refresh()
    expect((await ask(chat())).status).toBe(503)
    expect((await ask(chat({ model: 'made-up' }))).status).toBe(404)
    expect(modelIn(await pageOf(server), 'default')).toMatchObject({ state: 'outage', share: 0 })
    const keys = await server.app.db.selectFrom('call_sums').select('key').distinct().where('side', '=', 'offer').execute()
    expect(keys).toEqual([{ key: `default\n${model}` }])
  })

  it('probes models without traffic as their callers would call them, once for groups with the same channels, at the site’s cost', async () => {
    const upstream = await upstreamOfTest()
    const { server, ask } = await stage(kind, upstream.url, {
      channel: { models: `${model},gpt-4o,dall-e-3`, group: 'default,vip' },
    })
    await setOptions(server, { StatusProbeMinutes: 30 })
    await probe(server)
    expect(upstream.journal.map((each) => each.model).sort()).toEqual(['gpt-4o', model])
    let page = await pageOf(server)
    for (const group of ['default', 'vip'])
      expect(modelIn(page, group, 'gpt-4o')).toMatchObject({ state: 'operational', share: 1 })
    expect(modelIn(page, 'default', 'dall-e-3')).toMatchObject({ state: 'unknown' })
    const [cost] = await server.call<{ reason: string; all: { count: number; quota: number } }[]>('GET /api/system/site_cost')
    expect(cost).toMatchObject({ reason: 'status_probe', all: { count: 2 } })

    // A model that was called in a group is not probed there.
    await ask(chat())
    await server.app.callStatistics.flush()
    await setOptions(server, { GroupRatio: { default: 1 } })
    upstream.program('gpt-4o', { status: 500 })
    await probe(server)
    expect(upstream.journal.filter((each) => each.model === model)).toHaveLength(2)
    page = await pageOf(server)
    expect(modelIn(page, 'default', 'gpt-4o')).toMatchObject({ state: 'degraded', share: 0.5 })

    await setOptions(server, { StatusProbeModels: `${model}\nunknown`, StatusProbeUnitsPerDay: 0 })
    expect(JSON.parse(await probe(server))).toEqual({ answered: 0, failed: 0, unaffordable: 1 })
  })

  it('has incidents with updates, which admins write and the audit log records', async () => {
    const upstream = await upstreamOfTest()
    const { server } = await stage(kind, upstream.url)
    const input = { kind: 'incident', title: 'Slow answers', state: 'investigating', message: 'We look.', impact: 'degraded' }
    const opened = await server.call<AdminIncident>('POST /api/incident/', { ...input, models: [model] })
    expect(modelIn(await pageOf(server), 'default')?.state).toBe('degraded')
    const path = `/api/incident/${opened.id}`
    await server.call(`PUT ${path}`, { title: 'Slower answers', impact: 'outage', models: [model], starts_at: opened.starts_at })
    expect(modelIn(await pageOf(server), 'default')?.state).toBe('outage')
    await expect(server.call(`POST ${path}/update`, { state: 'completed', message: 'Done.' })).rejects.toThrow()
    await server.call(`POST ${path}/update`, { state: 'resolved', message: 'It was a cable.' })
    const page = await pageOf(server)
    expect(page.incidents).toMatchObject([
      { title: 'Slower answers', state: 'resolved', updates: [{ message: 'It was a cable.' }, { message: 'We look.' }] },
    ])
    expect(page.incidents[0]?.ends_at).toBeGreaterThan(0)
    expect(modelIn(page, 'default')?.state).toBe('unknown')

    const list = await server.call<{ items: AdminIncident[]; total: number }>('GET /api/incident/?keyword=SLOWER&state=ended')
    expect(list).toMatchObject({ total: 1, items: [{ id: opened.id, created_by: 'root' }] })
    await server.call(`DELETE ${path}`)
    await expect(server.call(`DELETE ${path}`)).rejects.toThrow()
    const audit = await server.app.db
      .selectFrom('audit')
      .select(['action', 'target'])
      .where('action', 'like', 'incident.%')
      .orderBy('id')
      .execute()
    expect(audit).toEqual(
      ['open', 'change', 'update', 'delete'].map((action) => ({ action: `incident.${action}`, target: `incident:${opened.id}` })),
    )
  })

  it('shows planned maintenance according to its times', async () => {
    const upstream = await upstreamOfTest()
    let now = Date.now()
    const { server } = await stage(kind, upstream.url, { server: { now: () => now, steady: () => now } })
    const at = Math.floor(now / 1000)
    const input = { kind: 'maintenance', title: 'Move', state: 'scheduled', message: 'We move.', groups: ['default'] }
    await expect(server.call('POST /api/incident/', { ...input, starts_at: at + 600, ends_at: at })).rejects.toThrow()
    await server.call('POST /api/incident/', { ...input, title: 'Übersicht', starts_at: at + 600, ends_at: at + 1200 })
    const found = await server.call<{ total: number }>(`GET /api/incident/?keyword=${encodeURIComponent('Übersicht')}`)
    expect(found.total).toBe(1)
    const states = async () => {
      const page = await pageOf(server)
      return [page.incidents[0]?.state, modelIn(page, 'default')?.state]
    }
    expect(await states()).toEqual(['scheduled', 'unknown'])
    now += 700_000
    expect(await states()).toEqual(['in_progress', 'maintenance'])
    now += 700_000
    expect(await states()).toEqual(['completed', 'unknown'])
  })
})

describe('readers of the status page', () => {
  it('see it when it is public, with the groups that the price list shows them, without other incidents and vendors', async () => {
    const upstream = await upstreamOfTest()
    const { server } = await stage('sqlite', upstream.url, { channel: { group: 'default,svip', models: model } })
    await addChannel(server, { url: upstream.url, models: 'gpt-4o', group: 'svip', name: 'secret channel' })
    const hidden = await guest(server)
    expect([hidden.status, hidden.headers.get('cache-control')]).toEqual([404, 'no-store'])
    expect(await hidden.json()).toMatchObject({ success: false, code: 'status_page_private' })
    expect((await guest(server, '/status/badge.svg')).status).toBe(404)
    expect((await pageOf(server)).groups.map(({ name }) => name)).toContain('svip')

    await setOptions(server, { StatusPagePublicEnabled: true })
    const input = { kind: 'incident', state: 'identified', message: 'It is known.', impact: 'outage' }
    await server.call('POST /api/incident/', { ...input, title: 'Of svip', groups: ['svip'] })
    await server.call('POST /api/incident/', { ...input, title: 'Of both', models: [model, 'gpt-4o'] })
    const answer = await guest(server)
    expect(answer.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/)
    const { data } = (await answer.json()) as { data: StatusPage }
    expect(data.groups.map(({ name, models }) => [name, models.map((each) => each.name)])).toEqual([['default', [model]]])
    expect(data.incidents).toMatchObject([{ title: 'Of both', models: [model] }])
    expect(JSON.stringify(data)).not.toMatch(/svip|gpt-4o"|secret channel|OpenAI/)

    await setOptions(server, { StatusPageVendorsEnabled: true })
    expect(modelIn(await pageOfGuest(server), 'default')?.vendors).toEqual([expect.objectContaining({ en: 'OpenAI' })])
    await setOptions(server, { PricingPublicEnabled: false })
    const bare = await pageOfGuest(server)
    expect([bare.groups, bare.incidents, bare.state]).toEqual([[], [], 'unknown'])
  })

  it('subscribe to incidents as a feed, in which no text becomes markup, and which hides what guests do not see', async () => {
    const upstream = await upstreamOfTest()
    const { server } = await stage('sqlite', upstream.url, { channel: { group: 'default,svip', models: model } })
    expect((await guest(server, '/status/incidents.rss')).status).toBe(404)
    await setOptions(server, { StatusPagePublicEnabled: true })
    const input = { kind: 'incident', state: 'identified', impact: 'outage' }
    await server.call('POST /api/incident/', { ...input, title: 'Of svip', message: 'Hidden.', groups: ['svip'] })
    const { id } = await server.call<{ id: number }>('POST /api/incident/', {
      ...input,
      title: '<b>Slow & late</b>',
      message: 'One.\nTwo.',
    })
    await server.call(`POST /api/incident/${id}/update`, { state: 'resolved', message: 'Over.' })

    const answer = await guest(server, '/status/incidents.rss')
    expect(answer.headers.get('content-type')).toBe('application/rss+xml; charset=utf-8')
    const text = await answer.text()
    expect(text.match(/<item>/g)).toHaveLength(2)
    expect(text).toContain(`<title>Resolved: &lt;b&gt;Slow &amp; late&lt;/b&gt;</title>`)
    expect(text).toContain(`<guid isPermaLink="false">incident-${id}-2</guid>`)
    expect(text).toContain('<description>One.\nTwo.</description>')
    expect(text).not.toMatch(/svip|Hidden/)
    expect(await (await guest(server, '/status/incidents.rss?lang=zh')).text()).toContain('<title>已解决: ')
  })

  it('embed badges of the site and its models, in which no part of a URL becomes markup', async () => {
    const upstream = await upstreamOfTest()
    const { server } = await stage('sqlite', upstream.url)
    await setOptions(server, { StatusPagePublicEnabled: true })
    const badge = async (query = '') => {
      const answer = await guest(server, `/status/badge.svg${query}`)
      return { answer, text: await answer.text() }
    }
    const { answer, text } = await badge()
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/svg+xml; charset=utf-8',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=60',
    })
    expect(text).toContain('status: no recent data')
    await probe(server)
    server.app.statusSnapshots.forget()
    expect((await badge(`?model=${model}`)).text).toContain(`${model}: operational`)
    expect((await badge(`?model=${model}&lang=zh`)).text).toContain(`${model}: 正常`)
    const odd = (await badge(`?model=${encodeURIComponent('"><script>alert(1)</script>')}`)).text
    expect(odd).not.toContain('<script')
    expect(odd).toContain('no recent data')
  })
})
