import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshCore } from '../../../../test/helpers/core.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import type { Core } from '../../base/options/core.ts'
import { CheckThread } from './check-thread.ts'
import { Moderation } from './moderation.ts'

anyDatabase('moderation', (fresh) => {
  let core: Core
  let moderation: Moderation
  let close: () => Promise<void>
  beforeAll(async () => {
    const opened = await freshCore(fresh)
    core = opened.core
    moderation = new Moderation(core)
    close = opened.close
  })
  afterAll(async () => {
    await moderation.close()
    await close()
  })

  const caller = { id: 1, username: 'root', role: 100, group: 'default', address: '127.0.0.1' }
  const set = (key: string, value: unknown) => core.options.save({ key, value: String(value), caller })

  it('reads short prompts at once and follows every change of the options', async () => {
    expect(moderation.findInPrompt(['nothing', 'A Test_Sensitive thing'])).toBe('test_sensitive')
    expect(moderation.findInPrompt(['test_', 'sensitive'])).toBe(undefined)
    await set('SensitiveWords', 'alpha\n\n  two words \n')
    expect(moderation.findInPrompt(['a test_sensitive thing'])).toBe(undefined)
    expect(moderation.findInPrompt(['with TWO words'])).toBe('two words')
    await set('CheckSensitiveOnPromptEnabled', false)
    expect(moderation.findInPrompt(['alpha'])).toBe(undefined)
    await set('CheckSensitiveOnPromptEnabled', true)
    await set('CheckSensitiveEnabled', false)
    expect(moderation.findInPrompt(['alpha'])).toBe(undefined)
    await set('CheckSensitiveEnabled', true)
    expect(moderation.findInPrompt(['alpha'])).toBe('alpha')
  })

  it('[T085] checks long prompts in another thread, with the current list', async () => {
    const long = `${'x'.repeat(1_000_000)} OMEGA`
    expect(moderation.findInPrompt([long])).toBeInstanceOf(Promise)
    expect(await moderation.findInPrompt([long])).toBe(undefined)
    await set('SensitiveWords', [...Array.from({ length: 10_000 }, (_, n) => `word number ${n}`), 'omega'].join('\n'))
    const found = await Promise.all(
      [long, `${long.slice(0, -6)}word number 9999.`, 'x'.repeat(1_000_000)].map((text) => moderation.findInPrompt([text])),
    )
    expect(found).toEqual(['omega', 'word number 9', undefined])
  })

  it('checks completions when it is enabled, with a list that is built once', async () => {
    expect(moderation.completionRule).toBe(undefined)
    await set('CheckSensitiveOnCompletionEnabled', true)
    const before = moderation.completionRule
    expect(before).toMatchObject({ stops: true, piecesKept: 0 })
    await set('StopOnSensitiveEnabled', false)
    await set('StreamCacheQueueLength', 3)
    expect(moderation.completionRule).toMatchObject({ stops: false, piecesKept: 3 })
    expect(moderation.completionRule?.words).toBe(before?.words)
    await set('SensitiveWords', '')
    expect(moderation.completionRule).toBe(undefined)
    expect(moderation.findInPrompt(['anything'])).toBe(undefined)
  })
})

it('a thread that ends rejects its waiters, and the next text starts another', async () => {
  const thread = new CheckThread()
  const list = ['omega']
  expect(await thread.find(list, ['the omega'])).toBe('omega')
  const waiting = thread.find(
    list,
    Array.from({ length: 200 }, () => 'x'.repeat(100_000)),
  )
  const refused = expect(waiting).rejects.toThrow('has ended')
  await thread.close()
  await refused
  expect(await thread.find(list, ['another omega'])).toBe('omega')
  await thread.close()
})
