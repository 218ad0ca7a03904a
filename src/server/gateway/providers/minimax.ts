import type { JsonObject } from '../protocols/wire-format.ts'
import { chatHost, plainHost } from './adjust-chat.ts'
import { models, newest } from './models.ts'
import { defineProvider, joinUrl, pathOf, same } from './openai-compatible.ts'
import { hailuo } from './videos/hailuo.ts'

const speaks = {
  'openai.chat': '/v1/chat/completions',
  'anthropic.messages': '/anthropic/v1/messages',
  'minimax.images': '/v1/image_generation',
  'minimax.speech': '/v1/t2a_v2',
}

/**
 * Reasoning is in the text between tags and must be sent back there. Errors have status 200 and `base_resp`. The previous address,
 * which channels may still have, serves Chat at another path. Outside of China it is `https://api.minimax.io`. Source: MiniMax's
 * interface reference and protocols notes 2.2, read 2026-11.
 */
export const minimax = defineProvider({
  id: 35,
  key: 'minimax',
  label: same('MiniMax'),
  color: 'green',
  docs: 'https://platform.minimaxi.com/document',
  baseUrl: 'https://api.minimaxi.com',
  models: models.minimax,
  newest: newest.minimax,
  priceVendor: 'minimax',
  speaks,
  url(channel, format) {
    const isOld = format === 'openai.chat' && channel.baseUrl.includes('//api.minimax.chat')
    return joinUrl(channel.baseUrl, isOld ? '/v1/text/chatcompletion_v2' : pathOf(speaks, format), ['/anthropic/v1', '/v1'])
  },
  streamOptions: false,
  ...chatHost(
    { ...plainHost, thinkTags: true, replayReasoning: 'always', temperatureMax: 1, thinkingSwitch: 'thinking-type' },
    adjust,
  ),
  modelsPath: null,
  videos: hailuo,
})

/** MiniMax refuses a temperature of 0. */
function adjust({ temperature }: JsonObject): Record<string, unknown> {
  return typeof temperature === 'number' && temperature <= 0 ? { temperature: 0.01 } : {}
}
