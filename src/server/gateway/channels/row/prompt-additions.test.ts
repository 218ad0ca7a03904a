import { expect, it } from 'vitest'
import type { ChannelSetting } from '../../../../contract/entities/channel.ts'
import { providerById } from '../../providers/index.ts'
import { promptPolicyOf } from './prompt-additions.ts'

function policyOf(type: number, baseUrl?: string, setting: ChannelSetting = {}) {
  const provider = providerById(type)
  if (!provider) throw new Error('No such provider')
  return promptPolicyOf({ provider, baseUrl: baseUrl ?? provider.baseUrl, setting })
}

it.each([
  ["OpenAI's own address", 1, undefined, 'closed'],
  ["Anthropic's own address", 14, undefined, 'closed'],
  ["Google's own address", 24, undefined, 'closed'],
  ['Azure, by the host of a customer', 3, 'https://team.openai.azure.com', 'closed'],
  ['Bedrock, whose address is fixed', 33, '', 'closed'],
  ["the vendor's address in a channel of another type", 8, 'https://api.deepseek.com/v1/chat/completions', 'closed'],
  ['a proxy in front of OpenAI', 1, 'https://proxy.example', 'unknown'],
  ['a host that looks like the vendor', 1, 'https://api.openai.com.example', 'unknown'],
  ['a reseller', 12, undefined, 'unknown'],
  ['OpenRouter', 20, undefined, 'unknown'],
  ["Ollama, whose models have templates of their operator's", 4, undefined, 'unknown'],
  ['FastGPT', 22, undefined, 'adds'],
  ['Dify at an address of its own', 37, 'https://dify.example', 'adds'],
  ['Coze', 49, undefined, 'adds'],
] as const)('%s', (_name, type, baseUrl, policy) => {
  expect(policyOf(type, baseUrl)).toBe(policy)
})

it('an admin decides for any address', () => {
  expect(policyOf(1, undefined, { adds_to_prompts: true })).toBe('adds')
  expect(policyOf(1, 'https://proxy.example', { adds_to_prompts: false })).toBe('closed')
  expect(policyOf(37, undefined, { adds_to_prompts: false })).toBe('closed')
})
