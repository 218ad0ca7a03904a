import { describe, expect, it } from 'vitest'
import { addToken } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { ask, claude, httpUpstream } from './stage.ts'

const sharedStage = sharedStages()
const credentials = 'AKIDEXAMPLE|wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY|us-east-1'

/** A vendor that speaks Messages and records what it gets. */
async function vendor() {
  const asked: { path: string; body: string; betas: string | undefined }[] = []
  const url = await httpUpstream(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    asked.push({ path: request.url ?? '', body, betas: request.headers['anthropic-beta']?.toString() })
    const reply = {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: claude, content: [{ type: 'text', text: 'Hi' }] },
      ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 3, output_tokens: 1 } },
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
  })
  return { url, asked }
}

const line = 'x-anthropic-billing-header: cc_version=2.1.38.a1; cc_entrypoint=cli; cch=00000;'
/** A request as an agent writes it, with spaces, long numbers and members of Anthropic's platform; `without` has none of the latter. */
const sent = `{"model":"${claude}",  "max_tokens":5,"service_tier":"auto","seed_":12345678901234567890,
  "system":[{"type":"text","text":"${line}"}, {"type":"text","text":"Help","cache_control":{"type":"ephemeral","scope":"global"}}],
  "messages":[{"role":"user","content":"h\\u0069"}], "diagnostics":{"previous_message_id":null}}`
const withoutPlatform = `{"model":"${claude}",  "max_tokens":5,"seed_":12345678901234567890,
  "system":[{"type":"text","text":"Help","cache_control":{"type":"ephemeral"}}],
  "messages":[{"role":"user","content":"h\\u0069"}]}`
const headers = { 'anthropic-beta': 'context-1m-2025-08-07,files-api-2025-04-14' }

describe('a Messages request that passes through', () => {
  it.each([25, 26, 35, 43, 48])(
    '[289] [290] loses what the vendor of type %i refuses, by splices of its bytes, with a receipt',
    async (type) => {
      const { url, asked } = await vendor()
      const { server, token } = await sharedStage(url, { type, models: claude })
      const answer = await ask(server, token.key, sent, '/v1/messages', headers)
      expect([answer.status, asked[0]?.body]).toEqual([200, withoutPlatform])
      expect(asked[0]?.betas).toBe(headers['anthropic-beta'])
      expect(answer.headers.get('x-sluice-dropped')).toBe('service_tier, diagnostics, cache_control.scope')

      const strict = await addToken(server, { strict_translation: true })
      const refused = await ask(server, strict.key, sent, '/v1/messages', headers)
      expect([refused.status, asked.length]).toEqual([400, 1])
      expect(refused.text).toContain('cache_control.scope')
    },
  )

  it('loses the betas and unknown members that Bedrock refuses, too', async () => {
    const { url, asked } = await vendor()
    const { server, token } = await sharedStage(url, { type: 33, key: credentials, models: claude })
    const answer = await ask(server, token.key, sent, '/v1/messages', headers)
    expect(answer.status).toBe(200)
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      max_tokens: 5,
      system: [{ type: 'text', text: 'Help', cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: 'hi' }],
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['context-1m-2025-08-07'],
    })
    expect(asked[0]?.body).toContain('"content":"h\\u0069"')
    expect(answer.headers.get('x-sluice-dropped')).toBe(
      'anthropic-beta.files-api-2025-04-14, service_tier, seed_, diagnostics, cache_control.scope',
    )
  })

  it('loses only the line about the billing at an address that may be anything', async () => {
    const { url, asked } = await vendor()
    const { server, token } = await sharedStage(url, { type: 14, models: claude })
    const answer = await ask(server, token.key, sent, '/v1/messages', headers)
    expect(answer.status).toBe(200)
    expect(asked[0]?.body).toBe(sent.replace(`{"type":"text","text":"${line}"}, `, ''))
    expect(answer.headers.get('x-sluice-dropped')).toBeNull()
  })
})

describe('a request that is translated to Messages', () => {
  it('has no cache mark with a ttl for older Claude models on Bedrock', async () => {
    const { url, asked } = await vendor()
    const old = 'claude-3-7-sonnet-20250219'
    const { ask: askChat } = await sharedStage(url, { type: 33, key: credentials, models: old })
    const part = { type: 'text', text: 'Long', cache_control: { type: 'ephemeral', ttl: '1h' } }
    const answer = await askChat({ model: old, messages: [{ role: 'user', content: [part] }] })
    expect(answer.status).toBe(200)
    expect(JSON.parse(asked[0]?.body ?? '').messages).toMatchObject([
      { content: [{ type: 'text', text: 'Long', cache_control: { type: 'ephemeral' } }] },
    ])
    expect(asked[0]?.body).not.toContain('ttl')
    expect(answer.headers.get('x-sluice-dropped')).toContain('cache_control.ttl')
  })
})
