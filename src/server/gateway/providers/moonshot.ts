import { adjustForModel } from '../protocols/openai-chat/models.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import { chatHost, plainHost } from './adjust-chat.ts'
import { moonshotBalance } from './balances.ts'
import { models, newest } from './models.ts'
import { defineProvider, openaiPaths, same } from './openai-compatible.ts'

/**
 * Newer models refuse sampling parameters. Source: Moonshot's interface reference and protocols notes 2.2, read 2026-11.
 */
export const moonshot = defineProvider({
  id: 25,
  key: 'moonshot',
  label: same('Moonshot'),
  color: 'green',
  docs: 'https://platform.moonshot.cn/docs/api/chat',
  baseUrl: 'https://api.moonshot.cn',
  models: models.moonshot,
  newest: newest.moonshot,
  priceVendor: 'moonshotai',
  balance: moonshotBalance,
  speaks: { ...openaiPaths, 'anthropic.messages': '/anthropic/v1/messages' },
  ...chatHost(
    {
      ...plainHost,
      family: 'kimi',
      temperatureMax: 1,
      thinkingSwitch: 'thinking-type',
      prefill: 'partial',
      takesCacheKey: true,
    },
    adjust,
  ),
})

function adjust(body: JsonObject, model: string): Record<string, unknown> {
  const fixed = /^kimi-k(2\.[5-9]|[3-9])/.test(model) ? sampling.filter((member) => body[member] !== undefined) : []
  return { ...adjustForModel(body, model), ...Object.fromEntries(fixed.map((member) => [member, undefined])) }
}

const sampling = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty']
