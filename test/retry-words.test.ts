import { describe, expect, it } from 'vitest'
import { type Client, clients, type Failure, repeats, type Told, toldFailures } from '../scripts/lib/client-retries.mjs'
import * as failure from '../src/server/base/lib/failure.ts'
import * as body from '../src/server/gateway/protocols/error-body.ts'
import * as dialect from '../src/server/gateway/protocols/error-dialect.ts'
import * as upstream from '../src/server/gateway/protocols/upstream-failures.ts'

/** Every kind of failure in every dialect, whole and in a stream, against the retry rules of clients. */
const failures = toldFailures({ ...failure, ...body, ...dialect, ...upstream })

interface Case {
  readonly client: Client
  readonly failure: Failure
  readonly error: Told
}

const cases: readonly Case[] = clients.flatMap((client) =>
  failures.flatMap((each) =>
    each.told.filter((error) => client.dialects.includes(error.dialect)).map((error) => ({ client, failure: each, error })),
  ),
)
const nameOf = ({ client, failure: { kind }, error }: Case) => `${client.name}: ${kind} (${error.dialect}, ${error.place})`
const obedient = ['openai (npm)', '@anthropic-ai/sdk', 'Claude Code']
/** Clients that repeat nothing after a stream has begun. */
const silent = ['openai (npm)', '@anthropic-ai/sdk', '@google/genai with retryOptions', 'Qwen Code', 'Gemini CLI']

describe('an error that a repeated request meets again', () => {
  const lasting = cases.filter((each) => each.failure.isLasting)
  const repeated = lasting.filter(({ client, error }) => repeats(client, error))

  it('is marked for clients that obey, which never repeat it', () => {
    for (const { error } of lasting) if (error.place === 'whole') expect(error.headers['x-should-retry']).toBe('false')
    expect(repeated.filter(({ client }) => obedient.includes(client.name)).map(nameOf)).toEqual([])
  })

  it('is repeated as a whole reply only at 429 and 5xx, where the client does not obey; Codex repeats most statuses', () => {
    const others = repeated.filter(({ client, error }) => error.place === 'whole' && client.name !== 'Codex')
    expect(others.filter(({ error: { status } }) => status !== 429 && status < 500).map(nameOf)).toEqual([])
  })

  it('is repeated in a stream only by Codex, and where a client searches for the word exhausted or the code of a status', () => {
    const inStream = repeated.filter(({ client, error }) => error.place === 'stream' && client.name !== 'Codex')
    expect(inStream.map(nameOf)).toEqual([
      'opencode, Kilo Code: quota-exhausted (openai, stream)',
      'pi: too-large (gemini, stream)',
      'pi: account-refused (gemini, stream)',
    ])
  })

  it('has no type of an overload, in any dialect', () => {
    for (const { error } of lasting) expect(error.type).not.toMatch(/overloaded|server_error|^UNAVAILABLE/)
  })
})

describe('an error after which the same request may succeed', () => {
  const transient = cases.filter((each) => !each.failure.isLasting)
  const givenUp = transient.filter(({ client, error }) => !repeats(client, error))

  it('does not discourage retries', () => {
    for (const { error } of transient) expect(error.headers['x-should-retry']).toBeUndefined()
  })

  it('is repeated as a whole reply by every client, except where its statuses are never repeated', () => {
    expect(givenUp.filter(({ error }) => error.place === 'whole').map(nameOf)).toEqual([
      'Continue CLI: internal (anthropic, whole)',
      'Codex: rate-limited (openai, whole)',
      'Codex: upstream_saturated (openai, whole)',
      'Codex: rate_limit_requests (openai, whole)',
    ])
  })

  it('is repeated in a stream by the agents that repeat streams', () => {
    const agents = ['opencode, Kilo Code', 'pi', 'Codex']
    expect(givenUp.filter(({ client, error }) => error.place === 'stream' && agents.includes(client.name)).map(nameOf)).toEqual(
      [],
    )
    const openai = givenUp.filter(({ error }) => error.place === 'stream' && error.dialect === 'openai')
    expect(openai.filter(({ client }) => !silent.includes(client.name)).map(nameOf)).toEqual([])
    const cut = givenUp.filter(({ client, failure: { kind } }) => kind === 'interrupted' && client.name === 'Continue CLI')
    expect(cut.map(nameOf)).toEqual([])
  })
})

it('rules name their clients with version and day', () => {
  for (const { name, version, read, source } of clients) {
    expect([name, version, source].every((text) => text !== '')).toBe(true)
    expect(read).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  }
  expect(clients.length).toBeGreaterThanOrEqual(8)
})
