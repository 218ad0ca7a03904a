import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'

const seconds = (date: string) => Date.parse(date) / 1000

anyDatabase('the lists of models', (_fresh, kind) => {
  const sharedStage = sharedStages(kind, { SelfUseModeEnabled: true })
  const pricedStage = sharedStages(kind)

  async function lists(models: string, channel: Record<string, unknown> = {}, stageOn = sharedStage) {
    const { server, token } = await stageOn('http://127.0.0.1:9', { models, ...channel })
    const get = async (path: string, headers: Record<string, string> = {}) =>
      (await fetch(server.url + path, { headers: { authorization: `Bearer ${token.key}`, ...headers } })).json()
    return { server, get }
  }

  it("have a model's release date, if its name or the price data has one", async () => {
    const { get } = await lists('gpt-5.4,claude-3-5-sonnet-20241022,my-own')
    const { data } = await get('/v1/models')
    expect(data.map(({ id, created }: { id: string; created: number }) => [id, created])).toEqual([
      ['claude-3-5-sonnet-20241022', seconds('2024-10-22')],
      ['gpt-5.4', seconds('2026-03-05')],
      ['my-own', 1_626_777_600],
    ])
    expect((await get('/v1/models/gpt-5.4')).created).toBe(seconds('2026-03-05'))
    const anthropic = await get('/v1/models', { 'anthropic-version': '2023-06-01' })
    expect(anthropic.data[0].created_at).toBe('2024-10-22T00:00:00.000Z')
  })

  it('have no model without a price, of which every call would be refused', async () => {
    const { get } = await lists('gpt-5.4,my-own', {}, pricedStage)
    expect((await get('/v1/models')).data.map(({ id }: { id: string }) => id)).toEqual(['gpt-5.4'])
    expect((await get('/v1/models', { 'anthropic-version': '2023-06-01' })).data).toMatchObject([{ id: 'gpt-5.4' }])
    expect((await get('/v1beta/models')).models).toMatchObject([{ name: 'models/gpt-5.4' }])
    expect((await get('/v1/models/my-own')).error).toMatchObject({ code: 'model_not_found' })
  })

  it('name only the methods of the Gemini API that a model has', async () => {
    const { server, get } = await lists('gpt-5.4,text-embedding-3-small,whisper-1,rerank-v3.5')
    await addChannel(server, {
      url: 'http://127.0.0.1:9',
      type: 24,
      models: 'gemini-2.5-flash-image,gemini-embedding-001,imagen-4.0-generate-001',
    })
    const { models } = await get('/v1beta/models')
    const generate = ['generateContent', 'streamGenerateContent', 'countTokens']
    expect(
      Object.fromEntries(
        models.map((row: { name: string; supportedGenerationMethods: string[] }) => [row.name, row.supportedGenerationMethods]),
      ),
    ).toEqual({
      'models/gpt-5.4': generate,
      'models/text-embedding-3-small': ['embedContent', 'batchEmbedContents'],
      'models/whisper-1': [],
      'models/rerank-v3.5': [],
      'models/gemini-2.5-flash-image': generate,
      'models/gemini-embedding-001': ['embedContent', 'batchEmbedContents'],
      'models/imagen-4.0-generate-001': ['predict'],
    })
  })

  it('name no method that none of the channels of a model can answer', async () => {
    // A host that only offers embeddings.
    const { get } = await lists('some-name', { type: 38 })
    expect((await get('/v1beta/models')).models).toMatchObject([{ name: 'models/some-name', supportedGenerationMethods: [] }])
  })
})
