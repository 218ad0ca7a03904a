import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { answeringUpstream, chat, claude, stage } from './stage.ts'

anyDatabase('settings of the operator for models of a vendor', (_fresh, kind) => {
  it('apply to upstream calls: API versions of Gemini models, headers of Claude models', async () => {
    const { url, heard } = await answeringUpstream({ bytes: '', status: 500 })
    const { server, ask } = await stage(kind, url, { channel: { type: 24, models: 'gemini-2.0-flash,gemini-1.0-pro' } })
    await addChannel(server, { url, type: 14, models: claude })
    await addChannel(server, { url, type: 24, models: 'gemini-1.5-pro', other: 'v2' })
    await setOptions(server, { SelfUseModeEnabled: true })
    const versions = { default: 'v1beta', 'gemini-2.0-flash': 'v3alpha', 'gemini-1.5-pro': 'v9' }
    await setOptions(server, { 'gemini.version_settings': versions })
    const headers = { [claude]: { 'anthropic-beta': ['one-2025', 'two-2025'] } }
    await setOptions(server, { 'claude.model_headers_settings': headers })

    for (const model of ['gemini-2.0-flash', 'gemini-1.0-pro', 'gemini-1.5-pro', claude]) await ask(chat({ model }))
    const [flash, old, own, anthropic] = heard
    expect(flash?.path).toBe('/v3alpha/models/gemini-2.0-flash:generateContent')
    expect(old?.path).toBe('/v1beta/models/gemini-1.0-pro:generateContent')
    expect(own?.path).toBe('/v2/models/gemini-1.5-pro:generateContent')
    expect(anthropic?.headers['anthropic-beta']).toBe('one-2025,two-2025')
  })
})
