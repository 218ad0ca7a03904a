import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { answeringUpstream, chat, stage } from './stage.ts'

const model = 'ERNIE-4.0-8K'

anyDatabase('an upstream that requires an access token for its key', (_fresh, kind) => {
  it('[258] is asked for one token, no matter how many requests arrive, and for another when it revokes the first', async () => {
    let tokens = 0
    let refused = 'nothing yet'
    const { url } = await answeringUpstream(({ path }) => {
      const { pathname, searchParams } = new URL(path, 'http://upstream')
      if (pathname === '/oauth/2.0/token') return { json: { access_token: `token-${++tokens}`, expires_in: 2_592_000 } }
      if (searchParams.get('access_token') === refused) return { json: { error_code: 111, error_msg: 'Access token expired' } }
      const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
      return { json: { id: 'as-1', object: 'chat.completion', created: 1, result: 'four', is_end: true, usage } }
    })
    const { server, ask } = await stage(kind, url, { channel: { type: 15, models: model, key: 'id|secret' } })
    await setOptions(server, { SelfUseModeEnabled: true })

    const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await ask(chat({ model }))).status))
    expect([statuses, tokens]).toEqual([[200, 200, 200, 200, 200], 1])
    refused = 'token-1'
    expect((await ask(chat({ model }))).status).toBe(200)
    expect(tokens).toBe(2)
    await requireBalancedBooks(server)
  })
})
